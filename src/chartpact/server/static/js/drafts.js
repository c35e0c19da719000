// What was typed and not saved, kept in this browser for each user and script.
const PREFIX = "chartpact draft";

export class Drafts {
  /** @param {string} user */
  constructor(user) {
    this.user = user;
  }

  /** @param {string} name */
  key(name) {
    return JSON.stringify([PREFIX, this.user, name]);
  }

  /**
   * {text, base, good, at}: the text, what was saved when it was begun, and what last ran.
   * @param {string} name
   */
  get(name) {
    const kept = localStorage.getItem(this.key(name));
    return kept === null ? null : JSON.parse(kept);
  }

  /**
   * Keeps a text; false where the browser has no room or no permission for it.
   * @param {string} name
   * @param {string} text
   * @param {string | null} base
   * @param {string | null} good
   */
  put(name, text, base, good) {
    try {
      localStorage.setItem(this.key(name), JSON.stringify({ text, base, good, at: Date.now() }));
      return true;
    } catch {
      return false;
    }
  }

  /** @param {string} name */
  remove(name) {
    localStorage.removeItem(this.key(name));
  }

  names() {
    const names = [];
    for (let i = 0; i < localStorage.length; i++) {
      const key = localStorage.key(i) ?? "";
      if (!key.startsWith("[")) continue;
      const [prefix, user, name] = JSON.parse(key);
      if (prefix === PREFIX && user === this.user) names.push(name);
    }
    return names.sort();
  }

  /** The sources that last ran, by script. */
  listGood() {
    /** @type {Map<string, string>} */
    const good = new Map();
    for (const name of this.names()) {
      const source = this.get(name)?.good;
      if (source) good.set(name, source);
    }
    return good;
  }
}
