/**
 * Sends one value at a time, and of those that wait only the newest: what is sent last is what stays.
 * Gives whether the value is the newest one that there is and was sent.
 */
export function inTurn<T>(send: (value: T) => Promise<unknown>): (value: T) => Promise<boolean> {
  let newest = 0;
  let before: Promise<unknown> = Promise.resolve();
  return (value) => {
    newest += 1;
    const mine = newest;
    const turn = before.then(async () => {
      if (mine !== newest) return false;
      try {
        await send(value);
      } catch (error) {
        if (mine === newest) throw error; // otherwise the newer one says whether it works
      }
      return mine === newest;
    });
    before = turn.catch(() => undefined);
    return turn;
  };
}
