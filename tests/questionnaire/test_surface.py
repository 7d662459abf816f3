"""The tool surface: what a host is told, whoever changes the set, and when."""

from hypothesis import given, settings
from hypothesis import strategies as st

from questionnaire import AdjustableToolset, FunctionToolset, Tool, ToolResult, ToolSurface, Withhold

OURS = ("ask", "select", "narrate")
THEIRS = ("read", "bash")
ALL = (*THEIRS, *OURS)


async def nothing(_):
    return ToolResult("")


def a_surface():
    tools = AdjustableToolset(FunctionToolset(*((Tool(name, "", {}), nothing) for name in OURS)))
    pushed = []
    return tools, ToolSurface(tools, pushed.append), pushed


def withhold(tools, *names):
    return tools.add(Withhold(names, "no"))


def test_withheld_is_taken_out_and_brought_back():
    tools, surface, pushed = a_surface()
    surface.seen(ALL)
    assert pushed == []
    lift = withhold(tools, "ask", "select")
    assert pushed == [("read", "bash", "narrate")]
    assert surface.hidden == ("ask", "select")
    lift.lift()
    assert set(pushed[-1]) == set(ALL)
    assert len(pushed) == 2
    assert surface.hidden == ()


def test_nothing_is_pushed_before_the_hosts_set_is_known():
    tools, surface, pushed = a_surface()
    withhold(tools, "ask")
    assert pushed == []
    surface.seen(ALL)
    assert pushed == [("read", "bash", "select", "narrate")]


def test_an_unchanged_set_is_never_pushed():
    tools, surface, pushed = a_surface()
    surface.seen(ALL)
    first = withhold(tools, "ask")
    second = withhold(tools, "ask")
    first.lift()
    assert len(pushed) == 1  # still hidden by the second
    surface.seen(pushed[-1])
    assert len(pushed) == 1
    second.lift()
    assert len(pushed) == 2


def test_what_the_user_switched_off_stays_off():
    tools, surface, pushed = a_surface()
    surface.seen(("read", "bash", "ask", "narrate"))  # select is off, by the user
    lift = withhold(tools, "ask", "select")
    assert surface.hidden == ("ask",)
    lift.lift()
    assert set(pushed[-1]) == {"read", "bash", "ask", "narrate"}


def test_what_the_user_switches_off_meanwhile_stays_off_and_what_they_add_stays():
    tools, surface, pushed = a_surface()
    surface.seen(ALL)
    lift = withhold(tools, "ask")
    surface.seen(("read", "select", "narrate", "theirs"))
    lift.lift()
    assert set(pushed[-1]) == {"read", "select", "narrate", "theirs", "ask"}


def test_a_reset_from_outside_is_repaired():
    tools, surface, pushed = a_surface()
    surface.seen(ALL)
    lift = withhold(tools, "ask", "select")
    surface.seen(ALL)  # a new session: everything is active again
    assert pushed == [("read", "bash", "narrate")] * 2
    lift.lift()
    assert set(pushed[-1]) == set(ALL)


def test_a_host_that_does_not_do_it_is_not_told_without_end():
    tools, surface, pushed = a_surface()
    surface.seen(ALL)
    withhold(tools, "ask")
    for _ in range(50):
        surface.seen(ALL)
    assert len(pushed) < 5


def test_what_a_dead_process_hid_is_brought_back():
    _, surface, pushed = a_surface()
    surface.seen((*THEIRS, "narrate"), hidden=("ask", "select"))
    assert set(pushed[-1]) == set(ALL)
    assert surface.hidden == ()


def test_what_a_dead_process_hid_stays_hidden_while_it_is_withheld_again():
    tools, surface, pushed = a_surface()
    lift = withhold(tools, "ask", "select")
    surface.seen((*THEIRS, "narrate"), hidden=("ask", "select"))
    assert pushed == []
    lift.lift()
    assert set(pushed[-1]) == set(ALL)


def test_closing_restores_only_what_it_hid():
    tools, surface, pushed = a_surface()
    surface.seen(("read", "ask", "narrate"))
    withhold(tools, "ask", "select")
    surface.close()
    assert set(pushed[-1]) == {"read", "ask", "narrate"}
    count = len(pushed)
    withhold(tools, "narrate")
    assert len(pushed) == count


def test_a_lost_host_is_told_nothing_until_it_is_seen_again():
    tools, surface, pushed = a_surface()
    surface.seen(ALL)
    lift = withhold(tools, "ask")
    surface.lost()
    lift.lift()
    assert len(pushed) == 1
    surface.seen(ALL)
    assert len(pushed) == 1


names = st.frozensets(st.sampled_from(OURS))


@given(
    st.lists(
        st.one_of(
            st.tuples(st.just("add"), names),
            st.tuples(st.just("lift"), st.integers(0, 3)),
            st.tuples(st.just("reset"), names),
        ),
        max_size=20,
    )
)
@settings(deadline=None)
def test_the_host_never_lists_what_is_withheld_and_at_the_end_has_what_it_would_have_had(steps):
    tools = AdjustableToolset(FunctionToolset(*((Tool(name, "", {}), nothing) for name in OURS)))
    host = {"active": ALL}

    def push(active):
        assert set(active) != set(host["active"])
        host["active"] = active
        surface.seen(active)  # as a host does that tells what has come of it

    surface = ToolSurface(tools, push)
    surface.seen(ALL)
    lifts, wanted = [], set(ALL)
    for what, which in steps:
        if what == "add":
            lifts.append(withhold(tools, *which))
        elif what == "lift" and lifts:
            lifts.pop(which % len(lifts)).lift()
        elif what == "reset":
            # Its user makes a set of their own. A tool that is withheld, and not in it, may be back later.
            wanted = {*THEIRS, *which} | (wanted & set(surface.hidden))
            host["active"] = (*THEIRS, *which)
            surface.seen(host["active"])
        listed = {tool.name for tool in tools.tools()}
        assert set(host["active"]) == {name for name in wanted if name in listed or name in THEIRS}
    surface.close()
    assert set(host["active"]) == wanted


def test_a_push_that_was_not_obeyed_has_hidden_nothing():
    tools, surface, pushed = a_surface()
    surface.seen(ALL)
    lift = withhold(tools, "ask", "select")
    surface.seen(("read", "bash", "ask", "narrate"), hidden=())  # its user was quicker, and select is off
    assert surface.hidden == ("ask",)
    lift.lift()
    assert set(pushed[-1]) == {"read", "bash", "ask", "narrate"}
