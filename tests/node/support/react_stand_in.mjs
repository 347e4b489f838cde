// The two hooks that peruse/react uses, for tests without React: tests/packaging/hosts runs the adapter in React 17, 18 and 19.
let rendering;

export function useState(initial) {
  const component = rendering;
  const slot = component.next(() => ({ value: initial }));
  const set = (value) => {
    slot.value = value;
    component.render();
  };
  return [slot.value, set];
}

export function useEffect(effect, dependencies) {
  const slot = rendering.next(() => ({}));
  const same = slot.dependencies?.every((one, i) => Object.is(one, dependencies[i]));
  if (same) return;
  slot.dependencies = dependencies;
  rendering.effects.push(() => {
    slot.undo?.();
    slot.undo = effect();
  });
}

/** Renders a hook. `shown` has its results, in order. */
function mount(hook, ...given) {
  const slots = [];
  let args = given;
  let at = 0;
  const component = {
    shown: [],
    effects: [],
    next(make) {
      slots[at] ??= make();
      return slots[at++];
    },
    render() {
      rendering = component;
      at = 0;
      component.shown.push(hook(...args));
      for (const run of component.effects.splice(0)) run();
    },
    update(...changed) {
      args = changed;
      component.render();
    },
    unmount() {
      for (const { undo } of slots) undo?.();
    },
  };
  component.render();
  return component;
}

globalThis[Symbol.for('react stand-in')] = mount;
