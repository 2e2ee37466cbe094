/** Asks only once for each key. */
export function oncePer<Key, Value>(make: (key: Key) => Value): (key: Key) => Value {
  const made = new Map<Key, Value>();
  return (key) => {
    const known = made.get(key);
    if (known !== undefined || made.has(key)) return known as Value;
    const value = make(key);
    made.set(key, value);
    return value;
  };
}

/**
 * Works out what follows from an object once, for all plans: facts never change, and take what follows from them along
 * when they go.
 */
export function onceFor<Key extends object, Value extends object | string | boolean>(
  make: (key: Key) => Value,
): (key: Key) => Value {
  const made = new WeakMap<Key, Value>();
  return (key) => {
    const known = made.get(key);
    if (known !== undefined) return known;
    const value = make(key);
    made.set(key, value);
    return value;
  };
}

/** The same for what follows from two objects. */
export function onceForBoth<One extends object, Other extends object, Value extends object | boolean>(
  make: (one: One, other: Other) => Value,
): (one: One, other: Other) => Value {
  const made = onceFor((one: One) => ({ for: onceFor((other: Other) => make(one, other)) }));
  return (one, other) => made(one).for(other);
}

const mostTexts = 1000;

/** The same for what follows from texts that thousands repeat, so that all of them share it. Forgets when they are many. */
export function onceForText<Value extends object | string>(make: (text: string) => Value): (text: string) => Value {
  const made = new Map<string, Value>();
  return (text) => {
    const known = made.get(text);
    if (known !== undefined) return known;
    if (made.size >= mostTexts) made.clear();
    const value = make(text);
    made.set(text, value);
    return value;
  };
}

const asName: Record<string, true> = Object.create(null);

/**
 * The text itself. What many objects repeat is kept in memory once from now on: V8 has one copy of whatever was the name
 * of a property, for as long as somebody holds it.
 */
export function oneCopy<Text extends string>(text: Text): Text {
  asName[text] = true;
  delete asName[text];
  return text;
}
