import { setting, trueOrFalse } from "../../settings/setting.ts";

export const categorySettings = {
  PETSTORE_STRICT_CATEGORIES: setting<boolean>({
    meaning: "Whether a `categoryId` without a category is refused. Existing animals keep theirs.",
    fallback: "false",
    ...trueOrFalse,
  }),
};
