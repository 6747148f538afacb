// What a check wanted to change, and could not be changed: an error of the check that always fails closed.

export class UnmadeChange extends Error {
  constructor(reason: string) {
    super(`its changes cannot be made: ${reason}`);
    this.name = 'Check error';
  }
}
