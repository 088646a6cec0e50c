// Creates elements. Texts become text nodes, never markup; attribute names are constants.

/** Creates an HTML element. */
export function make(name, attributes = {}, ...children) {
  return filled(document.createElement(name), attributes, children);
}

/** Creates an SVG element. */
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

/** Sets the colour of an element; its class decides whether it is filled or stroked. */
export function tint(element, colour) {
  element.style.color = `var(--${colour})`;
  return element;
}
