// Requests to the server. The secret comes from the part of the link behind "#", which is not sent with it.

/** An answer other than success: `status` is that of HTTP, 0 if there was no answer. */
export class RequestError extends Error {
  constructor(status) {
    super(`status ${status}`);
    this.status = status;
  }
}

async function send(path, secret, body) {
  let response;
  try {
    response = await fetch(path, {
      method: "POST",
      headers: { "content-type": "application/json", authorization: `Bearer ${secret}` },
      body: JSON.stringify(body ?? {}),
    });
  } catch {
    throw new RequestError(0);
  }
  if (!response.ok) {
    throw new RequestError(response.status);
  }
  return response;
}

/** Sends a request and returns the parsed answer. */
export async function request(path, secret, body) {
  const response = await send(path, secret, body);
  return response.json();
}

/** Sends a request and returns the answer as a file. */
export async function download(path, secret) {
  const response = await send(path, secret);
  return response.blob();
}

/** A random id with 128 bits. Also works where `crypto.randomUUID` is missing, as it is without TLS. */
export function newId() {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
}

export const pause = (milliseconds) =>
  new Promise((resolve) => {
    setTimeout(resolve, milliseconds);
  });
