import {
  type DocumentChange,
  DocumentError,
  type DocumentQuery,
  type Documents,
} from "../../src/mesh-node/documents/documents.ts";

/** Documents that keep nothing but what they are given: for tests of what stands before them. */
export class MemoryDocuments implements Documents {
  readonly #collections = new Map<string, Map<string, string>>();
  readonly #listeners = new Set<(change: DocumentChange) => void>();

  /** How many subscribers there are now. */
  get subscribers(): number {
    return this.#listeners.size;
  }

  async put(collection: string, id: string, json: string): Promise<void> {
    try {
      JSON.parse(json);
    } catch {
      throw new DocumentError("invalid", "the document is not JSON");
    }
    this.#collection(collection).set(id, json);
    this.#tell({ kind: "upsert", collection, id, json });
  }

  async get(collection: string, id: string): Promise<string | undefined> {
    return this.#collection(collection).get(id);
  }

  async delete(collection: string, id: string): Promise<boolean> {
    const was = this.#collection(collection).delete(id);
    if (was) this.#tell({ kind: "delete", collection, id });
    return was;
  }

  async list(collection: string): Promise<{ id: string; json: string }[]> {
    return [...this.#collection(collection)].map(([id, json]) => ({ id, json })).sort((a, b) => (a.id < b.id ? -1 : 1));
  }

  collections(): string[] {
    return [...this.#collections].filter(([, rows]) => rows.size > 0).map(([name]) => name);
  }

  subscribe({ collections, snapshot }: DocumentQuery, listener: (change: DocumentChange) => void): () => void {
    const isWanted = (name: string): boolean => collections?.includes(name) ?? true;
    const hear = (change: DocumentChange): void => {
      if (isWanted(change.collection)) listener(change);
    };
    for (const [collection, rows] of snapshot ? this.#collections : [])
      for (const [id, json] of rows) hear({ kind: "upsert", collection, id, json });
    this.#listeners.add(hear);
    return () => void this.#listeners.delete(hear);
  }

  stats() {
    const documents = [...this.#collections.values()].reduce((sum, rows) => sum + rows.size, 0);
    return { documents, tombstones: 0, bytes: 0, fileBytes: 0 };
  }

  async close(): Promise<void> {}

  #collection(name: string): Map<string, string> {
    const found = this.#collections.get(name) ?? new Map<string, string>();
    this.#collections.set(name, found);
    return found;
  }

  #tell(change: DocumentChange): void {
    for (const listener of [...this.#listeners]) listener(change);
  }
}
