import anyio
import pytest
from hypothesis import given
from hypothesis import strategies as st

from questionnaire.restrictions import AdjustableToolset, RestrictedToolset, Withhold
from questionnaire.testing import check_toolset
from questionnaire.toolset import FunctionToolset, Tool, ToolResult

NAMES = "abcde"
hidden_sets = st.lists(st.frozensets(st.sampled_from(NAMES)), max_size=5)


async def run(arguments):
    return ToolResult("ran")


def toolset():
    return FunctionToolset(*((Tool(name, f"{name}.", {"type": "object"}), run) for name in NAMES))


def withhold(hidden, name="rule"):
    return Withhold(hidden, f"refused by {name}", name=name)


def listed(tools):
    return "".join(tool.name for tool in tools.tools())


def without(hidden_sets):
    return "".join(name for name in NAMES if not any(name in hidden for hidden in hidden_sets))


def call(tools, name):
    """Run a call that never waits, without an event loop."""
    try:
        tools.call(name, {}).send(None)
    except StopIteration as stop:
        return stop.value.text
    raise AssertionError("the call waited")


def stacked(hidden_sets):
    tools = toolset()
    for number, hidden in enumerate(hidden_sets):
        tools = RestrictedToolset(tools, withhold(hidden, f"rule {number}"))
    return tools


def adjusted(hidden_sets):
    tools = AdjustableToolset(toolset())
    for number, hidden in enumerate(hidden_sets):
        tools.add(withhold(hidden, f"rule {number}"))
    return tools


@pytest.mark.anyio
async def test_restricted_sets_keep_the_promises_of_a_tool_set():
    await check_toolset(lambda: stacked(["a"]))
    await check_toolset(lambda: adjusted(["a", "b"]))


@given(hidden_sets, st.randoms())
def test_restrictions_narrow_in_any_order_and_keep_the_inner_order(hidden_sets, random):
    shuffled = random.sample(hidden_sets, len(hidden_sets))
    for make in (stacked, adjusted):
        assert listed(make(hidden_sets)) == listed(make(shuffled)) == without(hidden_sets)


@given(hidden_sets, st.sampled_from(NAMES))
def test_what_is_not_listed_is_refused_by_the_outermost_that_hides_it(hidden_sets, name):
    hiding = [number for number, hidden in enumerate(hidden_sets) if name in hidden]
    expected = f"refused by rule {hiding[-1]}" if hiding else "ran"
    assert call(stacked(hidden_sets), name) == expected
    assert call(adjusted(hidden_sets), name) == expected


@given(hidden_sets)
def test_an_unknown_name_reaches_the_inner_error(hidden_sets):
    assert "no tool named 'z'" in call(stacked([*hidden_sets, {"z"}]), "z")
    assert "no tool named 'z'" in call(adjusted([*hidden_sets, {"z"}]), "z")


@given(st.data())
def test_adding_and_lifting_in_any_order_restores_only_what_one_hid(data):
    tools = AdjustableToolset(toolset())
    heard = []
    tools.on_change(lambda now: heard.append("".join(tool.name for tool in now)))
    in_force, lifted = [], []
    for _ in range(data.draw(st.integers(0, 12))):
        before, told = listed(tools), len(heard)
        if in_force and data.draw(st.booleans()):
            lift, hidden = in_force.pop(data.draw(st.integers(0, len(in_force) - 1)))
            lift.lift()
            lifted.append(lift)
        else:
            hidden = data.draw(st.frozensets(st.sampled_from(NAMES)))
            in_force.append((tools.add(withhold(hidden)), hidden))
        for lift in lifted:
            lift.lift()  # a second time does nothing
        assert listed(tools) == without([hidden for _, hidden in in_force])
        assert tools.restrictions == tuple(lift.restriction for lift, _ in in_force)
        assert heard[told:] == ([listed(tools)] if listed(tools) != before else [])


def test_one_restriction_in_force_twice_is_lifted_twice():
    tools, rule = AdjustableToolset(toolset()), withhold("a")
    first, second = tools.add(rule), tools.add(rule)
    first.lift()
    assert listed(tools) == "bcde"
    second.lift()
    assert listed(tools) == NAMES


def test_the_handle_lifts_on_every_exit():
    tools = AdjustableToolset(toolset())

    def fail_inside():
        with tools.add(withhold("ab")):
            assert listed(tools) == "cde"
            raise RuntimeError

    with pytest.raises(RuntimeError):
        fail_inside()
    assert listed(tools) == NAMES


def test_a_failing_listener_changes_nothing_for_the_others(caplog):
    tools, heard = AdjustableToolset(toolset()), []

    def fail(now):
        raise ValueError

    tools.on_change(fail)
    unsubscribe = tools.on_change(heard.append)
    lift = tools.add(withhold("a"))
    unsubscribe()
    unsubscribe()
    lift.lift()
    assert len(heard) == 1
    assert listed(tools) == NAMES
    assert "listener" in caplog.text


def test_a_refusal_may_be_made_from_the_call():
    rule = Withhold("a", lambda name, arguments: ToolResult(f"{name} {arguments}", is_error=True))
    assert rule.refusal("a", {"x": 1}).text == "a {'x': 1}"
    plain = Withhold("a", "not now", name="voice")
    assert plain.refusal("a", {}) == ToolResult(
        "not now", {"error": "withheld", "restriction": "voice"}, is_error=True
    )
    assert repr(plain) == "Withhold(['a'], name='voice')"


@pytest.mark.anyio
async def test_a_call_that_runs_already_is_not_broken():
    started, go_on, results = anyio.Event(), anyio.Event(), []

    async def wait(arguments):
        started.set()
        await go_on.wait()
        return ToolResult("done")

    tools = AdjustableToolset(FunctionToolset((Tool("a", "a.", {"type": "object"}), wait)))

    async def use():
        results.append(await tools.call("a", {}))

    async with anyio.create_task_group() as group:
        group.start_soon(use)
        await started.wait()
        tools.add(withhold("a"))
        assert (await tools.call("a", {})).text == "refused by rule"
        go_on.set()
    assert results == [ToolResult("done")]
