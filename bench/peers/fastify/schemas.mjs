const petStatus = { type: "string", enum: ["available", "pending", "sold"] };

export const newPet = {
  type: "object",
  required: ["name", "categoryId"],
  additionalProperties: false,
  properties: {
    name: { type: "string", minLength: 1, maxLength: 255 },
    categoryId: { type: "integer" },
    status: petStatus,
  },
};

export const pet = {
  type: "object",
  properties: { id: { type: "integer" }, name: { type: "string" }, categoryId: { type: "integer" }, status: petStatus },
};

export const listQuery = {
  type: "object",
  additionalProperties: false,
  properties: {
    limit: { type: "integer", minimum: 1, maximum: 100, default: 20 },
    status: petStatus,
    cursor: { type: "string", pattern: "^[A-Za-z0-9_-]+$" },
  },
};
