// An extension of the tests: tools that have the person choose, and confirm.
export default function (pi: any) {
  pi.registerTool({
    name: "choose_color",
    label: "Choose",
    description: "Have the user choose a color.",
    parameters: { type: "object", properties: {} },
    async execute(_id: string, _parameters: unknown, signal: AbortSignal, _update: unknown, ctx: any) {
      const chosen = await ctx.ui.select("Which color should it be?", ["Red", "Green", "Blue"], { signal });
      return { content: [{ type: "text", text: `chosen: ${chosen}` }], details: {} };
    },
  });
  pi.registerTool({
    name: "delete_all",
    label: "Delete",
    description: "Delete everything, if the user allows it.",
    parameters: { type: "object", properties: {} },
    async execute(_id: string, _parameters: unknown, signal: AbortSignal, _update: unknown, ctx: any) {
      const allowed = await ctx.ui.confirm("Delete everything?", "It cannot be undone.", { signal });
      return { content: [{ type: "text", text: allowed ? "it was granted" : "it was refused" }], details: {} };
    },
  });
}
