/** An extension of the tests: a tool that asks for a permission, and commands that replace the session. */
export default function (pi: any) {
	pi.registerTool({
		name: "gate",
		label: "gate",
		description: "Asks whether it may.",
		parameters: { type: "object", properties: { method: { type: "string" } } },
		async execute(_id: string, params: any, signal: AbortSignal, _update: unknown, ctx: any) {
			let came: any;
			if (params.method === "confirm") came = await ctx.ui.confirm("May I?", "It cannot be undone.", { signal });
			else if (params.method === "input") came = await ctx.ui.input("Which port?", "a number", { signal });
			else if (params.method === "editor") came = await ctx.ui.editor("Change it", "as it was");
			else came = (await ctx.ui.select("May I?", ["Allow", "Block"], { signal })) === "Allow" ? "granted" : "refused";
			return { content: [{ type: "text", text: `came: ${came}` }], details: {} };
		},
	});
	pi.on("session_start", (_event: unknown, ctx: any) => ctx.ui.notify("the gate is there", "info"));
	pi.registerCommand("again", { description: "reload", handler: async (_args: string, ctx: any) => ctx.reload() });
	pi.registerCommand("boom", { description: "a command", handler: async (_args: string, ctx: any) => ctx.ui.notify("BOOM", "info") });
	// What another extension sees of our questions, and how it answers.
	for (const name of ["request", "custom-input-request", "resolved", "error", "closed"]) {
		pi.events.on(`pi-user-select:${name}`, (event: any) => {
			const plan = process.env.GATE_ANSWERS;
			const said = [JSON.stringify({ name, ...event })];
			if (name === "request" && plan) for (const answer of JSON.parse(plan)) said.push(JSON.stringify(event.respond(answer)));
			require("node:fs").appendFileSync(process.env.GATE_LOG ?? "/dev/null", said.map((line) => `${line}\n`).join(""));
		});
	}
	pi.events.on("herdr:blocked", (event: any) => {
		require("node:fs").appendFileSync(process.env.GATE_LOG ?? "/dev/null", `${JSON.stringify({ name: "blocked", ...event })}\n`);
	});
}
