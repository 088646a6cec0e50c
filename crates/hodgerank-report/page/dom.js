// Elements. Texts become text nodes, never markup; attributes are names that the script knows.

/** An element of the page. */
export function make(name, attributes = {}, ...children) {
  return filled(document.createElement(name), attributes, children);
}

/** An element of a drawing. */
export function draw(name, attributes = {}, ...children) {
  return filled(document.createElementNS("http://www.w3.org/2000/svg", name), attributes, children);
}

function filled(element, attributes, children) {
  for (const [name, value] of Object.entries(attributes)) {
    element.setAttribute(name, value);
  }
  element.append(...children);
  return element;
}

/** Gives an element the colour that a chart names; what it paints is up to its class. */
export function tint(element, colour) {
  element.style.color = `var(--${colour})`;
  return element;
}
