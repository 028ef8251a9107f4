"""Titles of sessions, and how titles are shortened."""

import json

import pytest

from memtui.text import cues, orders, titles
from memtui.text.orders import TitleKind


@pytest.mark.parametrize(
    ("said", "line"),
    [
        (
            "Implement the following plan:\n\n# Plan: Tree view of the list\n\n## Why",
            "Tree view of the list",
        ),
        (
            "Implement the following plan:\n\n# Keep the mill wheel turning\n\n## Why",
            "Keep the mill wheel turning",
        ),
        (
            "Here is the task:\n- grind the grain without heating it\n- sweep",
            "Grind the grain without heating it",
        ),
        (
            "hello! can you explain how the mill race works?",
            "Explain how the mill race works",
        ),
        (
            "this should be hidden in mill mode :\n\n[image: image/png, 28 kB]",
            "This should be hidden in mill mode",
        ),
        ("List the files", "List the files"),
        ("continue", "continue"),
        ("<command-name>/clear</command-name>", "/clear"),
        ("This session is being continued from a previous conversation.", ""),
        ("[image: image/png, 28 kB]", ""),
        ("", ""),
    ],
)
def test_the_title_is_the_request(said: str, line: str) -> None:
    assert titles.session_title(said) == line


def test_the_title_is_one_line_of_limited_length() -> None:
    line = titles.session_title("{" + "grain mill " * 5_000 + "\nsecond")
    assert "\n" not in line and len(line) <= titles.TITLE_CHARS


@pytest.mark.parametrize("line", ["continue", "ok", "hi there!", "/clear", "Step 1"])
def test_greetings_and_commands_are_not_informative(line: str) -> None:
    assert not titles.is_informative(line)


@pytest.mark.parametrize(
    "line", ["List files", "/review the mill race", "修复导入错误"]
)
def test_lines_with_a_subject_are_informative(line: str) -> None:
    assert titles.is_informative(line)


def test_a_long_title_ends_at_a_clause() -> None:
    request = (
        "The abort listener awaits the cleanup of every socket which can cause "
        "unhandled rejections and leaks"
    )
    assert (
        titles.shorten_title(request)
        == "The abort listener awaits the cleanup of every socket"
    )


@pytest.mark.parametrize("verb", ["Never delete", "Delete"])
def test_a_title_is_not_cut_where_its_meaning_would_change(verb: str) -> None:
    request = (
        f"{verb} the archived timetable files of the ferries in the winter season "
        "without asking the harbour office first"
    )
    assert titles.shorten_title(request).endswith("…")


def test_a_long_order_ends_after_its_object() -> None:
    request = (
        "Write a guide called FERRIES.md with detailed instructions for setting up "
        "the timetable on a new machine of the harbour office"
    )
    end = request.index(" for setting")
    assert titles.shorten_title(request) == request[:end]
    statement = request.replace("Write a guide", "The guide is")
    assert titles.shorten_title(statement).endswith("…")


def test_a_title_without_a_clause_may_be_a_little_longer() -> None:
    title = (
        "The harbour office needs one file for the final timetable of ferries in winter"
    )
    assert titles.SHORT_TITLE_CHARS - 3 < len(title) <= titles.SHORT_TITLE_CHARS
    assert titles.shorten_title(f"{title} season") == f"{title} season"


@pytest.mark.parametrize(
    ("open_ended", "expected"),
    [
        ('Rename the ferry importer to "time', "Rename the ferry importer to"),
        ("Read the `config", "Read the config"),
        ("Sign all the ferry binaries (with a…", "Sign all the ferry binaries…"),
        ("A list (of two)", "A list (of two)"),
        ("harbours)", "harbours"),
    ],
)
def test_no_title_has_an_unbalanced_quote_or_bracket(
    open_ended: str, expected: str
) -> None:
    assert titles.drop_unbalanced(open_ended) == expected


@pytest.mark.parametrize(
    ("text", "title"),
    [
        (
            "This happens when I start it:\n\nTraceback (most recent call last):\n"
            '  File "/home/u/mill.py", line 3, in <module>\n    import grist\n'
            "ModuleNotFoundError: No module named 'grist'\n\nmake grist optional",
            "Make grist optional",
        ),
        (
            "The linter is being picky. Can you relax the rules for headings?",
            "Relax the rules for headings",
        ),
        ("/weak-model openai/gpt-5.2", ""),
        (
            "/init-plan # Objective\nBuild a web app called **Rye** where users can:"
            "\n\n- Log in\n- Grind\n\nUse",
            "Build a web app called Rye",
        ),
        (
            "Grep https://github.com/mills/old-mill.git for the brake of the wheel",
            "Grep mills/old-mill for the brake of the wheel",
        ),
        (
            "@agent-miller let's repair the brake of the mill wheel",
            "Repair the brake of the mill wheel",
        ),
        (
            "Okay, now in this project, lets repair the brake of the mill wheel",
            "Repair the brake of the mill wheel",
        ),
        (
            "Hola, puedes reparar el freno de la rueda del molino?",
            "Reparar el freno de la rueda del molino",
        ),
        (
            "## Error Type\nConsole\n\n## Error Message\nWheel error: 400"
            "\n\n    at turnWheel (src/mill.ts:157:15)\n\n## Code Frame\n  155 |",
            "Wheel error: 400",
        ),
        (
            "once thats done i want u to plan the repair of the mill wheel",
            "Plan the repair of the mill wheel",
        ),
        (
            "yes, go. Repair the brake of the mill wheel",
            "Repair the brake of the mill wheel",
        ),
        (
            "In mill/wheel.py around lines 76 to 82, the brake currently waits for the"
            " sluice; change the oak brake to stop the mill wheel",
            "Change the oak brake to stop the mill wheel",
        ),
        (
            "find out why the mill wheel keeps stopping" + " " * 40 + "┃ │ cd /mill &&"
            " git log | tail" + " " * 20 + "┃ └ Denied by hook\n\nand fix",
            "Find out why the mill wheel keeps stopping",
        ),
        (
            "Haz un análisis de los archivos de este molino de harina y dime si la"
            " estructura de las carpetas es clara",
            "Haz un análisis de los archivos de este molino de harina",
        ),
        (
            "/explore count the sacks that each mill ground last year",
            "Count the sacks that each mill ground last year",
        ),
        ("You are a miller with 20 years of experience. You always write clearly.", ""),
        (
            "Antworte immer auf Deutsch. Repariere das Mühlrad im hinteren Hof.",
            "Repariere das Mühlrad im hinteren Hof",
        ),
        (
            "Think step by step and be concise. Count the sacks of the old mill.",
            "Count the sacks of the old mill",
        ),
        (
            "You write terse answers. Count the sacks of the old mill.",
            "Count the sacks of the old mill",
        ),
        ("Agis en tant qu'Expert des moulins à vent et à eau.", ""),
        (
            "Tu es l'Orchestrateur.OBJECTIFS :1. Compter les sacs du vieux moulin.",
            "Compter les sacs du vieux moulin",
        ),
        (
            "Mach weiter. Repariere das Mühlrad im hinteren Hof.",
            "Repariere das Mühlrad im hinteren Hof",
        ),
        (
            "А теперь добавь кнопку остановки мельницы",
            "Добавь кнопку остановки мельницы",
        ),
        (
            "Не могли бы вы добавить кнопку остановки мельницы?",
            "Добавить кнопку остановки мельницы",
        ),
        (
            "Kannst du bitte das Mühlrad im Hof reparieren?",
            "Das Mühlrad im Hof reparieren",
        ),
        (
            "okay. does that mean the settings.json of the mill stays there?",
            "Does that mean the settings.json of the mill stays there?",
        ),
        pytest.param(
            "In app/admin/layout.tsx improve the session check:\n"
            "- Fetch the profile of the user\n- Keep the sidebar and the top bar",
            "In layout.tsx improve the session check",
            id="an order before a list",
        ),
        pytest.param(
            "Fix Supabase in status/page.tsx:\nChange the failing query to:\n"
            "const { data, error } = await db.auth.getSession();\n"
            "set status to connected\nUse try/catch",
            "Fix Supabase in status/page.tsx",
            id="an order before code",
        ),
        pytest.param(
            "Create a payments provider like this: const pay = new Pay({\n"
            "  apiKey: env.PAY_KEY,\n})",
            "Create a payments provider",
            id="code that begins in the line of the order",
        ),
        pytest.param(
            "Rather than only images in the carousel, can you show the name of the"
            " recipe on its card?",
            "Show the name of the recipe on its card",
            id="a question after a condition",
        ),
        pytest.param(
            "Use chain of thought reasoning, and think out loud. Can you plan a heatmap"
            " component for the statistics page?",
            "Plan a heatmap component for the statistics page",
            id="how to think",
        ),
        pytest.param(
            "Can you remove all absolute positioning and replace it with flex"
            " positioning, there should be three regions on the screen, one for the"
            " space above the image, one for the space to the left of the image and"
            " one for the image itself",
            "Remove all absolute positioning and replace it with flex positioning",
            id="a long sentence with repeated words",
        ),
        pytest.param(
            "Yes, go ahead. First read the permissions in settings.json",
            "",
            id="what to read first",
        ),
        pytest.param(
            "so not remove them completely, just comment out the mill hooks in"
            " settings.json",
            "",
            id="a correction",
        ),
        pytest.param(
            "Ignore `logs/mill.log`\n\nBuild a cost report of the mill as an HTML page",
            "Build a cost report of the mill as an HTML page",
            id="what to ignore",
        ),
        pytest.param(
            "Please show me the current Git diff for:\n- mill/wheel.ts\n- mill/sack.ts",
            "Show me the current Git diff",
            id="a word that leads to a list",
        ),
        pytest.param(
            "# The design of the old mill, version 2\n\n1. [Overview](#1-overview)",
            "The design of the old mill, version 2",
            id="an anchor is no ticket",
        ),
        pytest.param(
            "I'm in the branch where we've added the water wheel (see PR #191)\n\n"
            "I have a number of merge conflicts to deal with.\n\nFor each file. Lay out"
            " each conflict, what caused it, and what you recommend.",
            "Lay out each conflict, what caused it, and what you recommend (#191)",
            id="an order after the situation",
        ),
        pytest.param(
            "We have a barn with a wheel of oak.\n/usr/bin/mill starts the wheel\n"
            "Clean the wheel of the mill before you restart the engine of the barn.",
            "We have a barn with a wheel of oak",
            id="an order in a log is no request",
        ),
        pytest.param(
            "we have a mill in @apps/mill/ that's running perfectly. it now grinds rye."
            " now it's time to update our deployment and get the new wheel turning",
            "Update our deployment and get the new wheel turning",
            id="it is time to",
        ),
        pytest.param(
            "actually, a water wheel is overkill here. let's switch the mill to a"
            " diesel engine instead",
            "Switch the mill to a diesel engine instead",
            id="let's, after a short statement",
        ),
        pytest.param(
            "My mill runs perfectly with wheat, but with rye the axle gets very hot",
            "With rye the axle gets very hot",
            id="what works comes first",
        ),
        pytest.param(
            "I want to be able to run the mill as a service and stop it in the night",
            "Run the mill as a service and stop it in the night",
            id="to be able to",
        ),
        pytest.param(
            "do you think that the old mill grinds rye and wheat at once?",
            "Do you think that the old mill grinds rye and wheat at once?",
            id="a question about an opinion is no order to think",
        ),
        pytest.param(
            "can you check this project and tell me if there is any virus or exploit?",
            "Check this project and tell me if there is any virus or exploit",
            id="a long order with few words that count",
        ),
        pytest.param(
            "<Wheel speed={3} />\n  </Mill> the mill has the wrong color in a barn",
            "The mill has the wrong color in a barn",
            id="words after pasted markup",
        ),
        pytest.param(
            "Evaluate the plan of the miller: # A lighter water wheel, version 1",
            "Evaluate the plan of the miller: A lighter water wheel, version 1",
            id="the mark of a heading",
        ),
        pytest.param(
            "okay excellent, can you create a simple script which lets me run this?"
            " lets call it ./run-mill.sh",
            "Create a simple script which lets me run this",
            id="an order before the name of its result",
        ),
        pytest.param(
            "quiero implementar la tarea 1.2 del molino de agua",
            "Implementar la tarea 1.2 del molino de agua",
            id="a wish in Spanish",
        ),
        pytest.param(
            "`mill.log` is the output of the wheel that turned all winter. The idea is"
            " to slow it down. To start, please show me the speed of the old wheel.",
            "Show me the speed of the old wheel",
            id="a polite order after a remark",
        ),
        pytest.param(
            "Two questions - will the new wheel change the speed of the mill?",
            "Will the new wheel change the speed of the mill?",
            id="the number of questions",
        ),
        pytest.param(
            "first thing we need to install a bearing for the new wheel",
            "Install a bearing for the new wheel",
            id="what comes first",
        ),
        pytest.param(
            "i have a question based on what the miller told me. do i need a new wheel"
            " for the mill in winter?",
            "Do i need a new wheel for the mill in winter?",
            id="a question that is announced",
        ),
        pytest.param(
            "[mill] Internal server error: Failed to turn the wheel of the barn\n"
            "    Plugin: mill:wheel\n    at turn (/src/wheel.js:3:14)",
            "Failed to turn the wheel of the barn",
            id="the error of a server",
        ),
        pytest.param(
            "So the bearing of the mill is taken care of?",
            "The bearing of the mill is taken care of?",
            id="a question does not become a statement",
        ),
        pytest.param(
            "I wanna adjust the wheel of the mill before winter",
            "Adjust the wheel of the mill before winter",
            id="a wish in slang",
        ),
        pytest.param(
            "@mill/wheel.md describe the new wheel in more detail",
            "Describe the new wheel in more detail",
            id="a file that is mentioned first",
        ),
        pytest.param(
            "Implement the following plan:\n\n# Fix: The mill floods the barn\n\n…",
            "Fix: The mill floods the barn",
            id="a problem does not become a statement",
        ),
        pytest.param(
            "I just put a new wheel in\n"
            "can you make sure we remove the old wheel of the mill?",
            "Make sure we remove the old wheel of the mill",
            id="a question on a line of its own",
        ),
        pytest.param(
            "Building the wheel of the mill is failing . can you see why",
            "Building the wheel of the mill is failing",
            id="a full stop after a blank",
        ),
        pytest.param(
            "It would be interesting to run a flood check of the old mill to see what,"
            " if anything, the water in the race could do to the wheel.",
            "Run a flood check of the old mill",
            id="a wish, and a clause that is cut",
        ),
        pytest.param(
            "There is also a small issue of a miller not being able to stop the wheel",
            "A miller not being able to stop the wheel",
            id="what introduces a problem",
        ),
        pytest.param(
            "I rebuilt the mill after the last changes, see also the log.\n\n"
            "But I had to remove the guard of the wheel, due to this error:\n\n- x",
            "I had to remove the guard of the wheel, due to this error",
            id="a contrast to the state before",
        ),
        pytest.param(
            '<pasted_content id="7e">\nElse works, but the wheel does not\n'
            '</pasted_content id="7e">\nsay this in the README of the mill',
            "Say this in the README of the mill",
            id="pasted content",
        ),
        pytest.param("ssh -T git@mill.example", "", id="a command"),
        pytest.param(
            "Next.js build of the mill fails with a type error",
            "Next.js build of the mill fails with a type error",
            id="a name that begins like an interjection",
        ),
        pytest.param("╭─ada@mill ~/wheel ‹main›\n╰─$ make", "", id="a framed prompt"),
    ],
)
def test_a_request_gives_the_title(text: str, title: str) -> None:
    assert titles.request_title(text) == title


@pytest.mark.parametrize(
    ("title", "kind"),
    [
        ("Build the wheel of the mill", TitleKind.ORDER),
        ("Read the plan and build the wheel", TitleKind.ORDER),
        ("Look at #12", TitleKind.ORDER),
        ("The wheel should be oiled", TitleKind.STATEMENT),
        ("Read the plan of the mill", TitleKind.PREPARATION),
        ("I'm having issues with the wheel", TitleKind.STATEMENT),
        ("It should be oiled before winter", TitleKind.QUESTION),
        ("In the barn beside the old mill the color of the…", TitleKind.QUESTION),
        ("Call it wheel.py", TitleKind.PREPARATION),
        ("Put 1 into a branch that I can look at", TitleKind.PREPARATION),
        ("Add 3 blades to the wheel", TitleKind.ORDER),
        ("Is the wheel balanced?", TitleKind.QUESTION),
        ("The mill is running", TitleKind.REMARK),
        ("Git commit with a detailed comment", TitleKind.REMARK),
        ("Merge remote-tracking branch 'wheel'", TitleKind.REMARK),
        ("Track the changes in this file", TitleKind.PREPARATION),
        ("Push notifications of the mill do not arrive", TitleKind.ORDER),
        ("Push all of it", TitleKind.REMARK),
        ("But we still want to see the wheel", TitleKind.REMARK),
        ("The names on the wheel are truncated", TitleKind.STATEMENT),
    ],
)
def test_the_kind_of_a_title(title: str, kind: TitleKind) -> None:
    assert orders.find_kind(title) is kind


@pytest.mark.parametrize(
    "title",
    [
        "The mill is running on the new wheel",
        "I've noticed you being very tentative",
        "CI is running on the current commit...seems to look it up…",
        "The problem is the bearing, not the wheel, I think",
    ],
)
def test_a_statement_is_a_remark(title: str) -> None:
    assert orders.is_remark(title)


@pytest.mark.parametrize(
    "title",
    [
        "Make sure the brake is released first",
        "Is the wheel balanced?",
        "The brake is broken since yesterday",
        "The wheel should be oiled",
        "It seems that we should oil the wheel first, I think",
        "Wheel and brake",
        "Das Rad ist zu schnell für die Mühle",
    ],
)
def test_requests_questions_and_problems_are_no_remarks(title: str) -> None:
    assert not orders.is_remark(title)


RECAP = """This session is being continued from a previous conversation.

1. Primary Request and Intent:
   The user wants the mill to be repaired.

6. All user messages:
   - **Message 1**: "Implement the following plan: # Plan: Oil the Wheel [five steps]"
   - "continue"

7. Pending Tasks:
   - "Sweep the floor of the mill"
"""


@pytest.mark.parametrize(
    ("text", "title"),
    [
        (RECAP, "Oil the Wheel"),
        (
            'All user messages:\n- "Improve Milling Greatly"\n',
            "Improve Milling Greatly",
        ),
        (
            "<state_snapshot>\n<overall_goal>\nOil the wheel of the old mill\n"
            "</overall_goal>\n",
            "Oil the wheel of the old mill",
        ),
        ("The user asked for nothing in particular.", ""),
    ],
)
def test_a_recap_gives_the_title_of_a_request_that_it_quotes(
    text: str, title: str
) -> None:
    assert titles.recap_title(text) == title


def test_a_short_russian_request_gives_the_title() -> None:
    assert titles.request_title("Какую очередь взять?") == "Какую очередь взять?"
    assert titles.request_title("Продолжай, пожалуйста") == ""


def test_code_in_a_request_is_searched_for_near_its_colon_alone() -> None:
    far = "Repair this wheel of the old mill: " + "x" * 300 + " {"
    assert titles._CODE_BEGINS.search(far) is None
    assert titles._CODE_BEGINS.search("Repair this wheel: const wheel = {")


@pytest.mark.parametrize(
    ("later", "is_revoked"),
    [
        ("Forget the mill, the wheel is enough.", True),
        ("We no longer need the mill.", True),
        ("I fixed the mill, so that it no longer stops.", False),
    ],
)
def test_a_sentence_revokes_an_earlier_one(later: str, is_revoked: bool) -> None:
    assert cues.revokes(later, "Build the mill beside the wheel.") is is_revoked


@pytest.mark.parametrize(
    ("reply", "title"),
    [
        (
            "I'll add a brake to the water wheel and test it in winter.",
            "Add a brake to the water wheel and test it in winter",
        ),
        (
            "Sure! Let me now replace the bearing of the water wheel.",
            "Replace the bearing of the water wheel",
        ),
        (
            "I'm fixing the loose bearing of the water wheel.",
            "Fix the loose bearing of the water wheel",
        ),
        (
            "Ich werde das Lager am Wasserrad der Mühle ersetzen, wheel inklusive.",
            "Das Lager am Wasserrad der Mühle ersetzen, wheel inklusive",
        ),
        ("I'll start by reading the files of the water wheel.", ""),
        ("I'll check how the water wheel of the mill is mounted.", ""),
        ("Let me first inspect the bearing of the water wheel.", ""),
        ("I'll fix this wheel.", ""),
        ("Great project! I'll check how the wheel of the mill turns in winter.", ""),
        ("I'll cross-check the old drawings of the water wheel in the barn.", ""),
        ("I'll fetch both drawings of the water wheel from the barn.", ""),
        ("I'll repaint the roof of the old barn in the valley.", ""),
        ("Ich werde zuerst die Dateien der Mühle und das wheel lesen.", ""),
        (
            "The wheel is loose. It needs new oil. I'll oil the bearing of the wheel.",
            "",
        ),
    ],
)
def test_an_agent_repeats_a_request(reply: str, title: str) -> None:
    assert titles.restated_title(reply, "the wheel is lose agian") == title


def test_the_name_of_a_proposed_plan() -> None:
    call = json.dumps({"plan": "# Plan: A brake for the wheel\n\n## Context\n…"})
    assert titles.proposed_plan_name(call) == "A brake for the wheel"
    reply = "Here it is.\n<proposed_plan>\n# A brake for the wheel\n\n…</proposed_plan>"
    assert titles.proposed_plan_name(reply) == "A brake for the wheel"
    assert not titles.proposed_plan_name("# A brake for the wheel")
    call = json.dumps(
        {"plan": "# Plan de Implementación: Freno\n\n…"}, ensure_ascii=False
    )
    assert titles.proposed_plan_name(call) == "Freno"


def test_the_banner_of_a_shell_is_no_title() -> None:
    banner = "Windows PowerShell\nCopyright (C) Microsoft Corporation.\n\n"
    pasted = f"{banner}PS C:\\mill> wheel\nwheel: The term is not recognized"
    assert not titles.request_title(pasted)
    assert titles.plain_title(pasted).startswith("Wheel")


def test_a_long_title_leaves_an_aside_out() -> None:
    order = (
        "Repair the wheel of the mill (the one that we took out of the river in May)"
    )
    assert titles.shorten_title(f"{order} and oil its bearings") == (
        "Repair the wheel of the mill and oil its bearings"
    )
