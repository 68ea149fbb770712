import type { ShopNumber } from "../../../contract/caller.ts";
import { asFileError, FileError, writeNewFile } from "../../../files/new-file.ts";
import { StorageUnavailable } from "../../../storage/errors.ts";
import { query } from "../../../storage/statement.ts";
import type { ReadableStorage } from "../../../storage/storage.ts";
import { first } from "../../../storage/transaction.ts";
import type { Command } from "../../../terminal/command.ts";
import { counted, pace } from "../../../terminal/output.ts";
import { Progress } from "../../../terminal/progress.ts";
import { chosenShop, shopOptions } from "../../shops/shop-options.ts";
import { allAnimals } from "../counts/pet-figures.ts";
import { columns, toPet } from "../pets.statements.ts";
import { type PetRow } from "../pets.table.ts";
import { formatOption, readPetFile } from "./file-arguments.ts";
import { type Format, fileHead, petWriter } from "./formats.ts";

const everyRow = query<[shop: ShopNumber], PetRow>(`SELECT ${columns} FROM pets WHERE shop = $1 ORDER BY id`);
/** The shop's own figures. Counting the rows of a large shop takes longer than a statement may. */
const countOf = query<[shop: ShopNumber], { animals: bigint }>(
  `SELECT ${allAnimals} AS animals FROM shops WHERE shop = $1`,
);

export const exportCommand: Command = {
  name: "export",
  summary: "Write all animals of a shop to a file, also while the service runs.",
  example: "export animals.jsonl --force",
  description:
    "The file is JSON Lines or CSV with a header, in UTF-8; - is the standard output. It is a consistent snapshot\n" +
    "of the shop, by ascending id. It appears only when it is complete and on disk.",
  args: ["FILE"],
  options: {
    ...formatOption,
    ...shopOptions,
    force: { meaning: "Replace the file if there is one." },
  },
  run: async (given, { store, folder, output, showStatus, stop }) => {
    const { path, format } = readPetFile(given, folder);
    const progress = new Progress(showStatus, "animal");
    const rest = path === undefined ? "The output is incomplete." : "The file was not written.";
    const storage = await store.open();
    try {
      const shop = await chosenShop(given, store, storage);
      const expected = showStatus ? Number((await storage.read(first(countOf, shop)))?.animals) : 0;
      let animals = 0;
      const onProgress = (count: number) => {
        if (stop.aborted) throw new FileError(`It was stopped. ${rest}`);
        animals += count;
        progress.report("Writing", animals, Math.min(1, animals / expected));
      };
      const pieces = textOf(storage, shop, format, onProgress);
      const bytes =
        path === undefined
          ? await writeOut(pieces, output)
          : await writeNewFile(path, pieces, given.options["force"] !== undefined);
      const { seconds } = progress;
      const file = path ?? "standard output";
      return {
        json: { file, animals, bytes, seconds },
        text: `Wrote ${counted(animals, "animal")} to ${file} ${pace(animals, seconds)}.`,
        printToStderr: path === undefined,
      };
    } catch (error) {
      if (!(error instanceof StorageUnavailable)) throw error;
      throw new FileError(`The store failed: ${error.message.replace(/\.$/, "")}. ${rest}`, { cause: error });
    } finally {
      progress.end();
      await storage.close();
    }
  },
};

/** The text of a consistent snapshot of all animals, by ascending id. Throws `StorageUnavailable`. */
async function* textOf(
  storage: ReadableStorage,
  shop: ShopNumber,
  format: Format,
  onProgress: (animals: number) => void,
): AsyncGenerator<string> {
  const write = petWriter(format);
  yield fileHead(format);
  for await (const rows of storage.stream(everyRow, shop)) {
    onProgress(rows.length);
    yield write(rows.map(toPet));
  }
}

async function writeOut(pieces: AsyncIterable<string>, output: (text: string) => Promise<void>): Promise<number> {
  let bytes = 0;
  try {
    for await (const piece of pieces) {
      await output(piece);
      bytes += Buffer.byteLength(piece);
    }
  } catch (error) {
    throw asFileError(error, "standard output");
  }
  return bytes;
}
