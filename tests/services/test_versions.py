"""The history of a node, and each of its versions."""

from memtui.model.nodes import NodeStatus
from memtui.model.verdicts import Support
from memtui.services import browse, versions
from memtui.workspace import Workspace
from tests import model_versions
from tests.conftest import NOW

DAY = "toc:day:2024-01-18"
WHY = "2 of 3 bullets are not supported by the source"


def test_a_history_shows_author_and_result_of_each_version(
    full_workspace: Workspace,
) -> None:
    held = (model_versions.unsupported_bullet("The moon was counted"),)
    model_versions.add_model_version(DAY, "One", with_weak="42 sessions in payments.py")
    model_versions.add_model_version(DAY, "Two", rejected=WHY, held=held)
    history = versions.get_history(DAY)
    assert history is not None
    assert history.requested_at is None
    rejected, model, first = history.versions
    assert [version.version for version in history.versions] == [3, 2, 1]
    assert (rejected.rejection, rejected.unsupported) == (WHY, 1)
    assert (model.supported, model.weak, model.unsupported) == (2, 1, 0)
    assert (model.generation, model.created_at) == (
        model_versions.STATS,
        model_versions.AT,
    )
    assert history.displayed is model
    assert not first.is_by_model and first.generation.model == ""
    assert (history.entry.headline, history.entry.is_by_model) == ("One", True)


def test_any_version_can_be_read_with_its_bullets(full_workspace: Workspace) -> None:
    before = browse.get_node(DAY)
    held = (model_versions.unsupported_bullet("The moon was counted"),)
    model_versions.add_model_version(DAY, "Two", rejected=WHY, held=held)
    model_versions.add_model_version(
        DAY, "Three", with_weak="42 sessions in payments.py"
    )
    assert before is not None
    first = versions.get_version(DAY, 1)
    assert first is not None and first.bullets == before.bullets
    second = versions.get_version(DAY, 2)
    assert second is not None
    assert (second.headline, second.rejection) == ("Two", WHY)
    assert [bullet.text for bullet in second.withheld] == ["The moon was counted"]
    third = versions.get_version(DAY, 3)
    assert third is not None
    assert third.bullets[0].support is Support.WEAK
    assert third.bullets[0].verdict.features.missing == ("payments.py", "42")
    assert third.generation == model_versions.STATS


def test_only_the_pinned_version_is_marked_as_pinned(
    full_workspace: Workspace,
) -> None:
    model_versions.add_model_version(DAY, "Two")
    versions.pin(DAY, 1, full_workspace.zone, NOW)
    output = [versions.get_version(DAY, number) for number in (1, 2)]
    assert [version.is_pinned for version in output if version] == [True, False]


def test_a_requested_version_makes_a_models_version_stale(
    full_workspace: Workspace,
) -> None:
    model_versions.add_model_version(DAY, "Two")
    versions.request(DAY, NOW)
    history = versions.get_history(DAY)
    assert history is not None
    assert (history.requested_at, history.entry.status) == (NOW, NodeStatus.STALE)


def test_a_pinned_node_is_not_stale_while_it_waits_for_a_model(
    full_workspace: Workspace,
) -> None:
    model_versions.add_model_version(DAY, "Two")
    versions.pin(DAY, 2, full_workspace.zone, NOW)
    versions.request(DAY, NOW)
    history = versions.get_history(DAY)
    assert history is not None
    assert history.entry.status is NodeStatus.CURRENT


def test_an_unknown_node_has_no_history(full_workspace: Workspace) -> None:
    for name in ("toc:day:1999-01-01", "nonsense", ""):
        assert versions.get_history(name) is None
        assert versions.get_version(name, 1) is None
    assert versions.get_version(DAY, 2) is None
    assert versions.get_version("toc:week:2024-03", 1) == browse.get_node(
        "toc:week:2024-W03"
    )
