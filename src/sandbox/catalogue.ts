import type { ServedResource } from "./served-resource.ts";

/** Every resource that the server serves at this moment. */
export class Catalogue {
  readonly #builtIn: readonly ServedResource[];
  readonly #custom = new Map<string, readonly ServedResource[]>();
  #byPath = new Map<string, ServedResource>();

  constructor(builtIn: readonly ServedResource[]) {
    this.#builtIn = builtIn;
    this.#index();
  }

  find(group: string, version: string, plural: string): ServedResource | undefined {
    return this.#byPath.get(`${group}/${version}/${plural}`);
  }

  all(): readonly ServedResource[] {
    return [...this.#byPath.values()];
  }

  /** The versions that serve what is stored under this name. */
  versionsOf(storedAs: string): readonly ServedResource[] {
    return this.all().filter((resource) => resource.storedAs === storedAs);
  }

  setCustom(storedAs: string, versions: readonly ServedResource[]): void {
    this.#custom.set(storedAs, versions);
    this.#index();
  }

  removeCustom(storedAs: string): void {
    this.#custom.delete(storedAs);
    this.#index();
  }

  #index(): void {
    const all = [...this.#builtIn, ...[...this.#custom.values()].flat()];
    this.#byPath = new Map(
      all.map((resource) => [`${resource.group}/${resource.version}/${resource.plural}`, resource]),
    );
  }
}
