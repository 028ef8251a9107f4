-- The checks of memtui audit: views of what is shown, and queries of what is damaged.
-- The comment on a query says of what, why, and what to do; it yields ids. If a query
-- yields all columns of a table behind them, a row is damaged if its digest is wrong.

CREATE TEMP VIEW shown_bullets AS
    SELECT a.id AS node_id, n.level, n.is_dirty, v.start_ms, v.end_ms, b.id, b.text,
    CASE WHEN json_valid(b.verdict) THEN b.verdict END AS verdict FROM audited_nodes a
    JOIN nodes n ON n.node_id = a.id JOIN node_versions v ON v.id = n.latest_id
    JOIN bullets b ON b.version_id = v.id;

CREATE TEMP VIEW shown_grips AS
    SELECT b.node_id, b.text, l.grip_id AS id FROM shown_bullets b
    JOIN bullet_grips l ON l.bullet_id = b.id UNION
    SELECT j.node_id, j.text, k.value FROM current_judgements j,
    json_each(CASE WHEN json_valid(j.grip_ids) THEN j.grip_ids END) k
    WHERE j.node_id IN (SELECT id FROM audited_nodes);

-- The events of grips, also under the ids that they had before.
CREATE TEMP VIEW shown_sources AS
    SELECT s.node_id, s.text, g.id, g.excerpt, g.start_event_id, g.end_event_id,
    first.id AS first_id, first.session_id AS first_session, first.at_ms AS first_ms,
    first.text AS first_text, last.id AS last_id, last.session_id AS last_session,
    last.at_ms AS last_ms FROM shown_grips s JOIN grips g ON g.id = s.id
    LEFT JOIN source_copies c ON c.copy_id = g.start_event_id
    LEFT JOIN source_copies d ON d.copy_id = g.end_event_id
    LEFT JOIN events first ON first.id = coalesce(c.event_id, g.start_event_id)
    LEFT JOIN events last ON last.id = coalesce(d.event_id, g.end_event_id);

CREATE TEMP VIEW shown_sessions AS
    SELECT s.agent || ':' || s.name AS name, s.id, s.state, s.outcome,
    CASE WHEN json_valid(s.work) THEN s.work END AS work FROM audited_sessions a
    JOIN sessions s ON s.id = a.id AND NOT EXISTS
    (SELECT 1 FROM segments g WHERE g.session_id = s.id AND g.needs_summary);

-- message: it was changed → restore
SELECT e.id, s.agent || ':' || s.name, e.* FROM audited_sessions a
    JOIN sessions s ON s.id = a.id JOIN events e ON e.session_id = s.id;

-- session: messages of it were deleted → restore
SELECT s.agent || ':' || s.name FROM audited_sessions a JOIN sessions s ON s.id = a.id
    WHERE s.event_count <> (SELECT count(*) FROM events e WHERE e.session_id = s.id);

-- node: the version that is shown was deleted → restore
SELECT n.node_id FROM audited_nodes a JOIN nodes n ON n.node_id = a.id
    WHERE n.latest_id NOT IN (SELECT id FROM node_versions);

-- node: it does not show the version that counts → restore
-- (That is the latest extract, a version by a model that was not rejected, or any one that
-- is pinned. From the same input a model's latest version is shown.)
SELECT n.node_id FROM audited_nodes a JOIN nodes n ON n.node_id = a.id
    LEFT JOIN node_versions v ON v.id = n.latest_id
    WHERE CASE WHEN n.latest_id IS NULL THEN NOT n.is_dirty
    WHEN n.is_pinned THEN v.node_id <> n.node_id
    ELSE v.id NOT IN (SELECT max(id) FROM node_versions o WHERE o.node_id = n.node_id
    AND o.rejection = '' GROUP BY o.is_by_model, CASE WHEN o.is_by_model THEN o.input_hash END) END;

-- node: it was deleted, but not what is below it → restore
SELECT DISTINCT id FROM (SELECT n.parent_id AS id FROM audited_nodes a
    JOIN nodes n ON n.node_id = a.id AND n.level <> 'week'
    UNION SELECT 'toc:month:' || substr(n.node_id, length('toc:day:') + 1, 7)
    FROM audited_nodes a JOIN nodes n ON n.node_id = a.id AND n.level = 'day')
    WHERE id NOT IN (SELECT node_id FROM nodes);

-- node: it was deleted, but not its versions → restore
SELECT DISTINCT g.id FROM audited_sessions a
    JOIN segments g ON g.session_id = a.id AND NOT g.needs_summary
    JOIN node_versions v ON v.node_id = g.id
    WHERE g.id NOT IN (SELECT node_id FROM nodes);

-- session: it was deleted, but not its messages → restore
SELECT DISTINCT 'row ' || session_id FROM events
    WHERE session_id NOT IN (SELECT id FROM sessions);

-- version: it was deleted, but not its lines → restore
SELECT DISTINCT 'row ' || version_id FROM bullets
    WHERE version_id NOT IN (SELECT id FROM node_versions);

-- source: it was deleted, and this line needs it → restore
SELECT id, node_id, text FROM shown_grips WHERE id NOT IN (SELECT id FROM grips);

-- source: it was changed → restore
SELECT g.id, g.node_id, g.* FROM audited_nodes a JOIN grips g ON g.node_id = a.id;

-- source: a message of it is not stored → restore
SELECT id, node_id, text, start_event_id, end_event_id FROM shown_sources
    WHERE first_id IS NULL OR last_id IS NULL;

-- source: its messages are of two sessions → restore
SELECT id, node_id, text, first_id, last_id FROM shown_sources
    WHERE first_session <> last_session;

-- source: the message does not say what it quotes → restore
SELECT id, node_id, text, first_id, excerpt FROM shown_sources
    WHERE NOT instr(first_text, excerpt) AND NOT EXISTS (SELECT 1 FROM events e
    WHERE e.session_id = first_session AND e.at_ms BETWEEN first_ms AND last_ms AND
    instr(squeezed(CAST(e.text AS BLOB)), squeezed(CAST(excerpt AS BLOB))));

-- line: this message does not say any more what it is based on → restore
SELECT s.node_id, s.text, s.event_id FROM (SELECT b.node_id, b.text,
    json_extract(b.verdict, q.fullkey || '[0]') AS event_id,
    json_extract(b.verdict, q.fullkey || '[1]') AS first,
    json_extract(b.verdict, q.fullkey || '[2]') AS last,
    json_extract(b.verdict, q.fullkey || '[3]') AS hash
    FROM shown_bullets b JOIN json_each(b.verdict, '$.spans') q) s
    LEFT JOIN source_copies c ON c.copy_id = s.event_id
    LEFT JOIN events e ON e.id = coalesce(c.event_id, s.event_id)
    WHERE quote_hash(CAST(substr(e.text, first + 1, last - first) AS BLOB)) IS NOT hash;

-- line: it has no source → restore
SELECT node_id, text FROM shown_bullets b WHERE json_extract(verdict, '$.objection') IS NULL
    AND NOT EXISTS (SELECT 1 FROM bullet_grips l WHERE l.bullet_id = b.id);

-- line: this source leads to no segment below it → work
-- (A session may go on after a day: what came of it then is in all its days.)
SELECT b.node_id, b.text, l.grip_id FROM shown_bullets b
    JOIN bullet_grips l ON l.bullet_id = b.id JOIN grips g ON g.id = l.grip_id
    LEFT JOIN source_copies c ON c.copy_id = g.start_event_id
    JOIN events e ON e.id = coalesce(c.event_id, g.start_event_id)
    WHERE b.level <> 'segment' AND NOT b.is_dirty AND NOT EXISTS (SELECT 1
    FROM segments s WHERE s.session_id = e.session_id AND s.start_ms >= b.start_ms
    AND s.start_ms < b.end_ms);

-- session: this message of it is not stored → work
SELECT s.name, t.key, t.value FROM shown_sessions s
    JOIN json_tree(s.work) t ON t.key GLOB '*event_id'
    LEFT JOIN source_copies c ON c.copy_id = t.value
    WHERE coalesce(c.event_id, t.value) NOT IN (SELECT id FROM events);

-- session: it was rejected, but is shown → work
SELECT s.name, j.kind, j.text FROM shown_sessions s
    JOIN current_judgements j ON j.subject = s.name AND j.ruling IN ('rejected', 'done')
    WHERE CASE j.kind WHEN 'state' THEN s.state = j.text
    WHEN 'outcome' THEN s.outcome = j.text WHEN 'left open' THEN EXISTS (SELECT 1
    FROM json_each(s.work, '$.left_open') o WHERE o.type = 'object'
    AND json_extract(s.work, o.fullkey || '.text') = j.text) END;

-- judgement: it was changed → restore
SELECT id, j.* FROM judgements j;

-- judgement: it was deleted → restore
SELECT CASE WHEN id = before + 2 THEN id - 1 ELSE (before + 1) || ' to ' || (id - 1) END
    FROM (SELECT id, lag(id, 1, 0) OVER (ORDER BY id) AS before
    FROM (SELECT id FROM judgements UNION
    SELECT seq + 1 FROM sqlite_sequence WHERE name = 'judgements'))
    WHERE id > before + 1;
