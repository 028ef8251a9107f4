-- The tables and indexes of a store. Triggers are in schema.py.

-- A session: name is its id as its agent gives it.
-- project_ms is the time of the earliest record that names its folder and project,
-- fact_times those of the latest that name other facts, as JSON, and whether the user
-- gave it own_name here.
-- routes are the ways its events came: hook, transcript, jsonl.
-- work_name, state, outcome and the details in work say what came of it (see
-- store.work); own_name is the name that the user gave it, which is shown instead of
-- work_name.
CREATE TABLE sessions (
    id INTEGER PRIMARY KEY, agent TEXT NOT NULL, name TEXT NOT NULL,
    project TEXT NOT NULL DEFAULT '', cwd TEXT NOT NULL DEFAULT '', project_ms INTEGER,
    fact_times TEXT NOT NULL DEFAULT '',
    branch TEXT NOT NULL DEFAULT '', model TEXT NOT NULL DEFAULT '',
    title TEXT NOT NULL DEFAULT '',
    created_ms INTEGER NOT NULL, updated_ms INTEGER NOT NULL,
    message_count INTEGER NOT NULL DEFAULT 0, event_count INTEGER NOT NULL DEFAULT 0,
    routes TEXT NOT NULL DEFAULT '', root TEXT NOT NULL DEFAULT '',
    created_by TEXT NOT NULL DEFAULT '', forked_from TEXT NOT NULL DEFAULT '',
    summary TEXT NOT NULL DEFAULT '', work_name TEXT NOT NULL DEFAULT '',
    state TEXT NOT NULL DEFAULT '', outcome TEXT NOT NULL DEFAULT '',
    work TEXT NOT NULL DEFAULT '', own_name TEXT NOT NULL DEFAULT ''
);

-- An event.
-- fingerprint is a hash of its content, by which copies that came by another route are
-- recognized; source_hash one of its id in the source, by which copies in other
-- sessions are recognized; digest is a hash of the other columns.
CREATE TABLE events (
    id TEXT NOT NULL PRIMARY KEY, session_id INTEGER NOT NULL REFERENCES sessions,
    at_ms INTEGER NOT NULL, ordinal INTEGER NOT NULL, type TEXT NOT NULL,
    role TEXT NOT NULL, subagent TEXT NOT NULL, text TEXT NOT NULL,
    metadata TEXT NOT NULL, tokens INTEGER NOT NULL, token_counter TEXT NOT NULL,
    route TEXT NOT NULL, fingerprint BLOB NOT NULL, source_hash BLOB,
    digest BLOB NOT NULL
);

-- A further copy of an event in the sources, by the id it would have had.
-- session is set if the copy is part of another session.
CREATE TABLE source_copies (
    copy_id TEXT NOT NULL PRIMARY KEY, event_id TEXT NOT NULL REFERENCES events,
    route TEXT NOT NULL, session_id INTEGER REFERENCES sessions
);

-- An id that a plain JSON line stated and no source has confirmed: see store.claims.
-- is_only_named is set if it was only named as that of a copy.
CREATE TABLE claimed_ids (
    id TEXT NOT NULL PRIMARY KEY, is_only_named INTEGER NOT NULL
) WITHOUT ROWID;

CREATE TABLE thoughts (
    id TEXT NOT NULL PRIMARY KEY, session_id INTEGER NOT NULL REFERENCES sessions,
    at_ms INTEGER NOT NULL, subagent TEXT NOT NULL, text TEXT NOT NULL
);

-- The tokens that one reply of a model took, as its source states it; a row for each
-- session with a copy of the reply: see store.usage.
-- key is a hash of the reply's id in the source, cost is in dollars; what is not stated
-- is null.
CREATE TABLE usage (
    key TEXT NOT NULL, session_id INTEGER NOT NULL REFERENCES sessions,
    at_ms INTEGER NOT NULL, model TEXT NOT NULL, input INTEGER, output INTEGER,
    cache_read INTEGER, cache_write INTEGER, cost REAL,
    PRIMARY KEY (key, session_id)
) WITHOUT ROWID;

CREATE TABLE subagents (
    agent TEXT NOT NULL, session_name TEXT NOT NULL, subagent TEXT NOT NULL,
    kind TEXT NOT NULL, tool_use_id TEXT NOT NULL, task TEXT NOT NULL,
    PRIMARY KEY (agent, session_name, subagent)
) WITHOUT ROWID;

-- A segment.
-- facts are what its events show, as JSON, and commits their number of commits (see
-- store.work).
CREATE TABLE segments (
    id TEXT NOT NULL PRIMARY KEY, session_id INTEGER NOT NULL REFERENCES sessions,
    first_event_id TEXT NOT NULL, last_event_id TEXT NOT NULL,
    start_ms INTEGER NOT NULL, end_ms INTEGER NOT NULL, tokens INTEGER NOT NULL,
    events INTEGER NOT NULL, messages INTEGER NOT NULL,
    subagent_events INTEGER NOT NULL, is_open BOOL NOT NULL,
    needs_summary BOOL NOT NULL, attempts INTEGER NOT NULL DEFAULT 0,
    retry_ms INTEGER NOT NULL DEFAULT 0, facts TEXT NOT NULL DEFAULT '',
    commits INTEGER NOT NULL DEFAULT 0
);

-- One version of a node; never changed.
-- bullets and withheld count its bullets that are shown and those that are not;
-- rejection is the reason why a model's version is not shown, generation are
-- measurements of how it was generated, as JSON; digest is a hash of it and its bullets.
CREATE TABLE node_versions (
    id INTEGER PRIMARY KEY AUTOINCREMENT, node_id TEXT NOT NULL,
    version INTEGER NOT NULL, level TEXT NOT NULL, title TEXT NOT NULL,
    headline TEXT NOT NULL, start_ms INTEGER NOT NULL, end_ms INTEGER NOT NULL,
    keywords TEXT NOT NULL, child_ids TEXT NOT NULL, status TEXT NOT NULL,
    summarizer TEXT NOT NULL, input_hash TEXT NOT NULL, created_ms INTEGER NOT NULL,
    segments INTEGER NOT NULL, events INTEGER NOT NULL, messages INTEGER NOT NULL,
    subagent_events INTEGER NOT NULL, bullets INTEGER NOT NULL,
    supported INTEGER NOT NULL, agents TEXT NOT NULL, projects TEXT NOT NULL,
    is_by_model BOOL NOT NULL, weak INTEGER NOT NULL, withheld INTEGER NOT NULL,
    rejection TEXT NOT NULL, session_title TEXT NOT NULL, generation TEXT NOT NULL,
    digest BLOB NOT NULL
);

-- A node of the table of contents.
-- latest is the version that is shown: none while the node is pending, the newest one
-- unless a version is pinned. is_outdated says that a pinned version is older than its
-- content, requested_ms when a user requested a new one.
CREATE TABLE nodes (
    node_id TEXT NOT NULL PRIMARY KEY, level TEXT NOT NULL, parent_id TEXT,
    start_ms INTEGER NOT NULL, latest_id INTEGER REFERENCES node_versions,
    is_dirty BOOL NOT NULL, is_live BOOL NOT NULL DEFAULT 0,
    attempts INTEGER NOT NULL DEFAULT 0, retry_ms INTEGER NOT NULL DEFAULT 0,
    is_pinned BOOL NOT NULL DEFAULT 0, is_outdated BOOL NOT NULL DEFAULT 0,
    needs_model BOOL NOT NULL DEFAULT 0, model_attempts INTEGER NOT NULL DEFAULT 0,
    model_retry_ms INTEGER NOT NULL DEFAULT 0, requested_ms INTEGER NOT NULL DEFAULT 0
);

-- A bullet of a version; verdict is its verdict as JSON.
-- is_withheld is set for those that are withheld or did not fit.
CREATE TABLE bullets (
    id INTEGER PRIMARY KEY, version_id INTEGER NOT NULL REFERENCES node_versions,
    position INTEGER NOT NULL, text TEXT NOT NULL, support TEXT NOT NULL,
    is_withheld BOOL NOT NULL, verdict TEXT NOT NULL, kind TEXT NOT NULL,
    project TEXT NOT NULL, session_id TEXT NOT NULL
);

-- digest is a hash of the other columns.
CREATE TABLE grips (
    id TEXT NOT NULL PRIMARY KEY, excerpt TEXT NOT NULL, start_event_id TEXT NOT NULL,
    end_event_id TEXT NOT NULL, at_ms INTEGER NOT NULL, source TEXT NOT NULL,
    node_id TEXT NOT NULL, digest BLOB NOT NULL
);

-- The grips of a bullet, its own or inherited.
CREATE TABLE bullet_grips (
    bullet_id INTEGER NOT NULL REFERENCES bullets, position INTEGER NOT NULL,
    grip_id TEXT NOT NULL REFERENCES grips, PRIMARY KEY (bullet_id, position)
) WITHOUT ROWID;

-- A judgement about a claim: a line of a session or of a period; never changed.
-- undoes is the judgement that does not count any more, of an opinion itself; digest is
-- a hash of the other columns (see model.judgements).
CREATE TABLE judgements (
    id INTEGER PRIMARY KEY AUTOINCREMENT, subject TEXT NOT NULL, kind TEXT NOT NULL,
    text TEXT NOT NULL, ruling TEXT NOT NULL, words TEXT NOT NULL,
    grip_ids TEXT NOT NULL, event_ids TEXT NOT NULL, node_id TEXT NOT NULL,
    is_by_model BOOL NOT NULL, reason TEXT NOT NULL, author TEXT NOT NULL,
    at_ms INTEGER NOT NULL, undoes INTEGER, digest BLOB NOT NULL
);

-- The judgement that counts about each claim.
CREATE VIEW current_judgements AS
    SELECT j.* FROM judgements j WHERE j.ruling NOT IN ('undone', 'forgotten')
    AND NOT EXISTS (SELECT 1 FROM judgements u WHERE u.undoes = j.id)
    AND NOT EXISTS (SELECT 1 FROM judgements l WHERE l.subject = j.subject
        AND l.kind = j.kind AND l.text = j.text AND l.id > j.id
        AND l.ruling NOT IN ('undone', 'forgotten')
        AND NOT EXISTS (SELECT 1 FROM judgements u WHERE u.undoes = l.id));

-- A property of the whole store: its schema, its time zone.
CREATE TABLE meta (
    name TEXT NOT NULL PRIMARY KEY, value TEXT NOT NULL
) WITHOUT ROWID;

-- The number of secrets of a kind that were removed.
CREATE TABLE redactions (
    kind TEXT NOT NULL PRIMARY KEY, count INTEGER NOT NULL, last_ms INTEGER NOT NULL
) WITHOUT ROWID;

-- Something forgotten that must not be stored again; see tombstones.
CREATE TABLE tombstones (
    kind TEXT NOT NULL, agent TEXT NOT NULL DEFAULT '',
    subject TEXT NOT NULL DEFAULT '', at_ms INTEGER NOT NULL DEFAULT 0,
    created_ms INTEGER NOT NULL, PRIMARY KEY (kind, agent, subject, at_ms)
) WITHOUT ROWID;

-- Events, versions and grips can be deleted only while this table has a row.
CREATE TABLE events_unlocked (
    id INTEGER PRIMARY KEY
);

-- Pending work; ids are never reused, even after the table was empty.
CREATE TABLE outbox (
    id INTEGER PRIMARY KEY AUTOINCREMENT, action TEXT NOT NULL,
    subject_id TEXT NOT NULL, at_ms INTEGER NOT NULL, session INTEGER
);

CREATE TABLE checkpoints (
    job_name TEXT NOT NULL PRIMARY KEY, level TEXT NOT NULL,
    last_processed_ms INTEGER NOT NULL, processed_count INTEGER NOT NULL,
    created_ms INTEGER NOT NULL
);

-- The position up to which a file has been read, and its size and time of change then;
-- at due_ms it is read again from its start.
CREATE TABLE cursors (
    path TEXT NOT NULL PRIMARY KEY, source TEXT NOT NULL, size INTEGER NOT NULL,
    mtime_ns INTEGER NOT NULL, "offset" INTEGER NOT NULL, line INTEGER NOT NULL,
    fingerprint TEXT NOT NULL, state TEXT NOT NULL, has_pending BOOL NOT NULL,
    read_ms INTEGER NOT NULL, due_ms INTEGER
);

-- The events received from a source so far.
CREATE TABLE source_activity (
    source TEXT NOT NULL, agent TEXT NOT NULL, last_event_ms INTEGER NOT NULL,
    received_ms INTEGER NOT NULL, events INTEGER NOT NULL, PRIMARY KEY (source, agent)
) WITHOUT ROWID;

-- Records of one source that were not stored, for one reason.
CREATE TABLE problems (
    source TEXT NOT NULL, reason TEXT NOT NULL, kind TEXT NOT NULL,
    line INTEGER NOT NULL, count INTEGER NOT NULL, last_ms INTEGER NOT NULL,
    words INTEGER NOT NULL DEFAULT 0, PRIMARY KEY (source, reason)
);

-- The state of a job; requested_ms is when a user requested a run.
CREATE TABLE jobs (
    name TEXT NOT NULL PRIMARY KEY, is_paused BOOL NOT NULL DEFAULT 0,
    requested_ms INTEGER, active_since_ms INTEGER
) WITHOUT ROWID;

-- One run of a job; ended_ms and result are null while it runs.
CREATE TABLE job_runs (
    id INTEGER PRIMARY KEY AUTOINCREMENT, job TEXT NOT NULL, reason TEXT NOT NULL,
    started_ms INTEGER NOT NULL, heartbeat_ms INTEGER NOT NULL, ended_ms INTEGER,
    result TEXT, error TEXT NOT NULL DEFAULT '', created INTEGER NOT NULL DEFAULT 0,
    rejected INTEGER NOT NULL DEFAULT 0, failed INTEGER NOT NULL DEFAULT 0,
    waiting INTEGER NOT NULL DEFAULT 0, skipped INTEGER NOT NULL DEFAULT 0,
    withheld TEXT NOT NULL DEFAULT ''
);

CREATE UNIQUE INDEX sessions_agent_name ON sessions (agent, name);
CREATE INDEX sessions_updated_ms ON sessions (updated_ms);
CREATE INDEX sessions_created_ms ON sessions (created_ms);
CREATE INDEX events_session_id_at_ms_ordinal_id ON events (session_id, at_ms, ordinal, id);
CREATE INDEX events_fingerprint ON events (fingerprint);
CREATE INDEX source_copies_event_id ON source_copies (event_id);
CREATE INDEX source_copies_session_id ON source_copies (session_id);
CREATE INDEX thoughts_session_id_at_ms ON thoughts (session_id, at_ms);
CREATE INDEX usage_session_id ON usage (session_id);
CREATE INDEX usage_at_ms ON usage (at_ms);
CREATE INDEX segments_session_id_start_ms ON segments (session_id, start_ms);
CREATE INDEX segments_is_open_end_ms ON segments (is_open, end_ms);
CREATE INDEX segments_needs_summary_start_ms ON segments (needs_summary, start_ms);
CREATE UNIQUE INDEX node_versions_node_id_version ON node_versions (node_id, version);
CREATE INDEX nodes_latest_id ON nodes (latest_id);
CREATE INDEX nodes_parent_id_start_ms ON nodes (parent_id, start_ms);
CREATE INDEX nodes_level_start_ms ON nodes (level, start_ms);
CREATE INDEX nodes_is_dirty_level ON nodes (is_dirty, level);
CREATE INDEX nodes_needs_model_level_start_ms ON nodes (needs_model, level, start_ms);
CREATE UNIQUE INDEX bullets_version_id_position ON bullets (version_id, position);
CREATE INDEX grips_start_event_id ON grips (start_event_id);
CREATE INDEX grips_node_id ON grips (node_id);
CREATE INDEX judgements_subject_kind_text ON judgements (subject, kind, text);
CREATE INDEX judgements_undoes ON judgements (undoes) WHERE undoes IS NOT NULL;
CREATE INDEX bullet_grips_grip_id ON bullet_grips (grip_id);
CREATE INDEX outbox_action_session ON outbox (action, session);
CREATE INDEX job_runs_job_id ON job_runs (job, id);
CREATE INDEX events_source_hash ON events (source_hash) WHERE source_hash IS NOT NULL;
CREATE INDEX cursors_pending ON cursors (read_ms) WHERE has_pending;
CREATE INDEX cursors_due ON cursors (due_ms) WHERE due_ms IS NOT NULL;
CREATE INDEX nodes_requested ON nodes (requested_ms) WHERE requested_ms > 0;
CREATE INDEX events_tool_results ON events (id) WHERE type = 'tool_result';
