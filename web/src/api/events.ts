/** Server-sent events, read until the stream ends or has fallen silent. */

/** The data of each event. A server that is there sends something every few seconds: a stream
 * without a word for `silence` ms has nobody at its end, though a proxy in between may hold it. */
export async function* events(
  body: ReadableStream<Uint8Array<ArrayBuffer>>,
  silence: number,
): AsyncGenerator<string> {
  const reader = body.pipeThrough(new TextDecoderStream()).getReader();
  let text = "";
  try {
    for (;;) {
      const read = await within(reader.read(), silence);
      if (read === null || read.done) return;
      text += read.value;
      const blocks = text.split("\n\n");
      text = blocks.pop() ?? "";
      for (const block of blocks) {
        const line = block.split("\n").find((one) => one.startsWith("data: "));
        if (line !== undefined) yield line.slice(6);
      }
    }
  } finally {
    void reader.cancel().catch(() => undefined);
  }
}

/** What is promised, or null when it does not come in time. */
async function within<T>(promise: Promise<T>, ms: number): Promise<T | null> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const late = new Promise<null>((done) => {
    timer = setTimeout(() => done(null), ms);
  });
  try {
    return await Promise.race([promise, late]);
  } finally {
    clearTimeout(timer);
  }
}
