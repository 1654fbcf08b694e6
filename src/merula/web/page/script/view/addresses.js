// What a page remembers in its address: named values as JSON behind the #.

export function addressOf(values) {
  const kept = new URLSearchParams();
  for (const [name, value] of Object.entries(values)) if (value !== null && value !== undefined) kept.set(name, JSON.stringify(value));
  return `${location.href.split("#")[0]}#${kept}`;
}

// {name: value} of the fragment; an empty object where it holds none, an Error with one sentence where it is damaged.
export function valuesOf(fragment) {
  const found = {};
  for (const [name, text] of new URLSearchParams(fragment.replace(/^#/, ""))) {
    if (/^[a-z_]+$/.test(name) && name !== "__proto__") found[name] = JSON.parse(text);
  }
  return found;
}
