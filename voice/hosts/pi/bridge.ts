/**
 * The bridge between Pi and Viva Voce: an extension of Pi's, loaded with `pi -e "$(voice bridge-path)"`.
 *
 * It gives Pi the tools of Viva Voce, hands their calls to the Python side over a Unix socket, keeps withheld
 * tools out of Pi's active set, and says what was spoken as an ordinary user message. Everything is decided
 * on the Python side; what is here has to go on without it: when the socket closes, for whatever reason,
 * what was withheld is brought back.
 *
 * One JSON object a line each way; `voice/hosts/pi/bridge.py` lists them. No dependency but Node itself.
 */

import { lstatSync, readFileSync } from "node:fs";
import { connect, type Socket } from "node:net";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const VERSION = 1;
const AGAIN_MS = 1000; // until a Python side that is not there is looked for again
const WELCOME_MS = 2000; // a Python side that says nothing for so long is none
const REPLY_MS = 1000;
const SAID_MS = 5000;
const LONGEST = 64 * 1024 * 1024;
const ENTRY = "viva-voce:hidden"; // what is hidden is kept in the session: a crash must not lose it
const CURSOR = "\x1b_pi:c\x07"; // where Pi puts the terminal's own cursor

type Json = Record<string, any>;
type ToolInfo = { name: string; description: string; parameters: Json; asks?: boolean };

function rendezvous(): string {
	const named = process.env.VIVA_VOICE_BRIDGE;
	if (named) return named;
	const runtime = process.env.XDG_RUNTIME_DIR;
	if (runtime) return join(runtime, "viva-voce", "pi");
	return join(process.env.TMPDIR || "/tmp", `viva-voce-pi-${process.getuid?.()}`);
}

/** The token in the folder where the Python side waits; undefined where nobody does, or the folder is not safe. */
function tokenIn(folder: string): string | undefined {
	try {
		const found = lstatSync(folder);
		const ours = found.isDirectory() && found.uid === process.getuid?.() && (found.mode & 0o077) === 0;
		return ours ? readFileSync(join(folder, "token"), "utf8") : undefined;
	} catch {
		return undefined;
	}
}

function shippedTools(): ToolInfo[] {
	const here = dirname(fileURLToPath(import.meta.url));
	return JSON.parse(readFileSync(join(here, "tools.json"), "utf8"));
}

/** A text between quotes that it cannot leave, on one line, as the Python side writes it. */
function quoted(text: unknown): string {
	const escaped = String(text).replace(/[\\"]/g, "\\$&").replace(/\r\n|[\n\r\x85\u2028\u2029]/g, "\\n");
	return `"${escaped.replace(/\p{Cc}|\p{Cs}|[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/gu, "")}"`;
}

/** What the model is told where nobody can be asked: the questions once more, to be asked in a message. */
function unseen(name: string, args: any, reason: string): string {
	const asked: any[] = Array.isArray(args?.questions) ? args.questions : args?.question ? [args] : [];
	const spelled = asked.map((question) => {
		const labels = (Array.isArray(question.options) ? question.options : []).map((o: any) => quoted(o?.label ?? o));
		return quoted(question.question) + (labels.length ? ` Options: ${labels.join(", ")}.` : "");
	});
	const instead = `The user was not asked and saw nothing. Ask in your next message instead:`;
	return `${name}: ${reason}\n${instead}\n${spelled.join("\n")}`;
}

const NO_INTERFACE = "no interactive UI available (running in non-interactive mode)";
const NOT_SPOKEN = "Voice is not active, so nothing can be narrated. Write to the user instead.";

export default function (pi: any) {
	let ctx: any; // of the newest event: what is said and shown goes through it
	let socket: Socket | undefined; // only while the Python side has welcomed us
	let connecting: Promise<boolean> | undefined;
	let again: NodeJS.Timeout | undefined;
	let over = false; // this instance of the extension was shut down, and `pi` is no longer its own
	let ours = new Map<string, ToolInfo>();
	let withheld = new Set<string>();
	let hidden: string[] = []; // what the Python side took out of the active set
	let relaying = false;
	let count = 0;
	const calls = new Map<string, { settle: (result: Json) => void; fail: (error: Error) => void }>();
	const replies = new Map<number, (message: Json | undefined) => void>();
	const saying: { n: number; text: string }[] = [];
	let beginning: string | undefined;
	const failed = new Map<string, Json>(); // results that are errors, until Pi is told so
	const refused = new Map<string, Promise<string | undefined>>(); // what calls get that Pi itself refuses
	const answered = new Set<string>(); // questions that other extensions can answer no more
	const mirrored = new Map<string, Json>(); // requests that other extensions take for open
	let blocked = false; // what they were told of it last
	const canvases = new Map<string, Json>();
	const dialogs = new Map<string, AbortController>();

	// --- The socket ----------------------------------------------------------------------------------------

	/** Send a line; false where nobody has welcomed us. */
	function send(message: Json): boolean {
		if (!socket) return false;
		socket.write(`${JSON.stringify(message)}\n`);
		return true;
	}

	/** Send a line and wait for its reply; undefined where none comes. */
	function request(message: Json, within = REPLY_MS): Promise<Json | undefined> {
		const n = ++count;
		if (!send({ ...message, n })) return Promise.resolve(undefined);
		return new Promise((resolve) => {
			const late = setTimeout(() => reply(n, undefined), within);
			replies.set(n, (message) => {
				clearTimeout(late);
				resolve(message);
			});
		});
	}

	function reply(n: number, message: Json | undefined) {
		const waiting = replies.get(n);
		replies.delete(n);
		waiting?.(message);
	}

	/** Be welcomed by the Python side, if one waits; several that ask at once share one attempt. */
	function reach(): Promise<boolean> {
		if (socket) return Promise.resolve(true);
		connecting ??= meet().finally(() => {
			connecting = undefined;
		});
		return connecting;
	}

	/** Meet the Python side, if one waits; false where none does. */
	function meet(): Promise<boolean> {
		const folder = rendezvous();
		const token = tokenIn(folder);
		if (over || !token || !ctx?.hasUI) return Promise.resolve(false);
		return new Promise((resolve) => {
			const stream = connect(join(folder, "socket"));
			let pieces: Buffer[] = [];
			let held = 0;
			const late = setTimeout(() => stream.destroy(), WELCOME_MS);
			stream.on("connect", () => {
				const mode = ctx.mode ?? (process.stdout.isTTY ? "tui" : "rpc"); // older ones do not tell
				const hello = { type: "hello", version: VERSION, token, pid: process.pid, mode, busy: !ctx.isIdle() };
				stream.write(`${JSON.stringify(hello)}\n`);
			});
			stream.on("data", (data: Buffer) => {
				let from = 0;
				for (let at = data.indexOf(10); at !== -1; at = data.indexOf(10, from)) {
					pieces.push(data.subarray(from, at));
					const line = Buffer.concat(pieces).toString("utf8");
					pieces = [];
					held = 0;
					from = at + 1;
					let message: Json | undefined;
					try {
						message = JSON.parse(line);
					} catch {
						continue;
					}
					try {
						if (message?.type === "welcome" && !socket) {
							clearTimeout(late);
							socket = stream;
							welcomed(message);
							resolve(true);
						} else if (socket === stream && message) {
							take(message);
						}
					} catch {
						stream.destroy(); // uncaught, it would end the Pi of the user
					}
				}
				pieces.push(data.subarray(from));
				held += data.length - from;
				if (held > LONGEST) stream.destroy();
			});
			stream.on("error", () => stream.destroy());
			stream.on("close", () => {
				clearTimeout(late);
				resolve(false);
				if (socket === stream) left();
			});
		});
	}

	/** Go on without a Python side: nothing is withheld, and no call of ours will be answered. */
	function left() {
		socket = undefined;
		withheld = new Set();
		relaying = false;
		if (!over) bringBack();
		const ended = "Viva Voce ended before there was an answer. It is no answer of the user's.";
		for (const { fail } of calls.values()) fail(new Error(ended));
		calls.clear();
		for (const n of [...replies.keys()]) reply(n, undefined);
		saying.length = 0;
		for (const controller of dialogs.values()) controller.abort();
		for (const canvas of canvases.values()) canvas.close();
		for (const base of mirrored.values()) {
			pi.events.emit("pi-user-select:closed", { ...base, reason: over ? "session_shutdown" : "cancelled" });
		}
		mirrored.clear();
		if (blocked) pi.events.emit("herdr:blocked", { active: false });
		blocked = false;
		retry();
	}

	function retry() {
		clearTimeout(again);
		if (over || !ctx?.hasUI) return;
		again = setTimeout(async () => {
			if (!(await reach())) retry();
		}, AGAIN_MS);
		again.unref();
	}

	function bringBack() {
		if (!hidden.length) return;
		const active: string[] = pi.getActiveTools();
		pi.setActiveTools([...active, ...hidden.filter((name) => !active.includes(name))]);
		keep([]);
	}

	function keep(names: string[]) {
		if (names.length === hidden.length && names.every((name) => hidden.includes(name))) return;
		hidden = names;
		pi.appendEntry(ENTRY, { hidden });
	}

	// --- What the Python side says -------------------------------------------------------------------------

	function welcomed(message: Json) {
		register(message.tools);
		withheld = new Set(message.withheld);
		relaying = message.relay;
		tellActive();
	}

	function tellActive(n?: number) {
		send({ type: "active", n, names: pi.getActiveTools(), hidden });
	}

	function take(message: Json) {
		switch (message.type) {
			case "set": {
				const active: string[] = pi.getActiveTools();
				const known = new Set<string>(message.base);
				// Made for another set than that which is active now, it is of no use; the answer brings a new one.
				if (active.length === known.size && active.every((name) => known.has(name))) {
					keep(message.hidden);
					pi.setActiveTools(message.names);
				}
				tellActive(message.n);
				break;
			}
			case "withheld":
				withheld = new Set(message.names);
				tellActive(message.n);
				break;
			case "result":
				calls.get(message.id)?.settle(message);
				break;
			case "reply":
				reply(message.n, message);
				break;
			case "say":
				say(message);
				break;
			case "go_on":
				goOn();
				break;
			case "stop":
				ctx?.abort();
				break;
			case "emit":
				emit(message);
				break;
			case "canvas.open":
				openCanvas(message.id);
				break;
			case "canvas.draw":
				canvases.get(message.id)?.draw(message);
				break;
			case "canvas.close":
				canvases.get(message.id)?.close();
				break;
			case "dialog.open":
				openDialog(message);
				break;
			case "dialog.close":
				dialogs.get(message.id)?.abort();
				break;
		}
	}

	function say({ n, text, deliverAs }: Json) {
		saying.push({ n, text });
		setTimeout(() => said((one) => one.n === n, "Pi did not take the message."), SAID_MS).unref();
		// No template and no command is expanded in what an extension says.
		pi.sendUserMessage(text, { deliverAs });
	}

	/** What is queued when a run is aborted, or just ends, Pi leaves where it is until the next message. */
	function goOn() {
		const content = "(A message of the user follows.)";
		pi.sendMessage({ customType: "viva-voce:go-on", content, display: false }, { triggerTurn: true });
	}

	function said(taken: (one: { n: number; text: string }) => boolean, error?: string) {
		const at = saying.findIndex(taken);
		if (at === -1) return;
		const [{ n }] = saying.splice(at, 1);
		send({ type: "said", n, error });
	}

	// --- Tools ---------------------------------------------------------------------------------------------

	function register(tools: ToolInfo[]) {
		for (const tool of tools) {
			const before = ours.get(tool.name);
			ours.set(tool.name, tool);
			if (before && JSON.stringify(before) === JSON.stringify(tool)) continue;
			const wasOff = before && !pi.getActiveTools().includes(tool.name);
			pi.registerTool({
				name: tool.name,
				label: tool.name.replaceAll("_", " "),
				description: tool.description,
				parameters: tool.parameters,
				executionMode: "sequential", // nothing else of the same turn runs before the user has answered
				execute: (id: string, args: Json, signal: AbortSignal | undefined, _update: unknown, now: any) => {
					ctx = now;
					return call(tool, id, args, signal);
				},
			});
			if (wasOff) pi.setActiveTools(pi.getActiveTools().filter((name: string) => name !== tool.name));
		}
	}

	async function call(tool: ToolInfo, id: string, args: Json, signal: AbortSignal | undefined): Promise<Json> {
		if (!ctx.hasUI || !(await reach())) {
			const reason = ctx.hasUI ? "Viva Voce is not running" : NO_INTERFACE;
			throw new Error(tool.asks === false ? NOT_SPOKEN : unseen(tool.name, args, reason));
		}
		const result = await new Promise<Json>((settle, fail) => {
			calls.set(id, { settle, fail });
			const abort = () => {
				send({ type: "abort", id });
				fail(new Error(`${tool.name} was cancelled.`));
			};
			if (signal?.aborted) return abort();
			signal?.addEventListener("abort", abort, { once: true });
			send({ type: "call", id, name: tool.name, arguments: args });
		}).finally(() => calls.delete(id));
		const told = { content: [{ type: "text", text: result.text }], details: result.details };
		if (result.isError) failed.set(id, { ...told, isError: true });
		return told;
	}

	/** What a call of a withheld tool gets; undefined where it is withheld no more. */
	async function refusal(name: string, args: any, id?: string): Promise<string | undefined> {
		const told = await request({ type: "refusal", id, name, arguments: args });
		if (told) return told.text ?? undefined;
		return withheld.has(name) ? `${name} is withheld now, and the user has not seen it.` : undefined;
	}

	// --- Other extensions ----------------------------------------------------------------------------------

	function emit({ name, data, answerable }: Json) {
		if (name === "herdr:blocked") blocked = data.active === true;
		else if (name.endsWith(":closed")) mirrored.delete(data.requestId);
		else if (answerable) {
			const { requestId, toolCallId, createdAt } = data;
			mirrored.set(requestId, { requestId, kind: "select", toolCallId, createdAt });
		}
		const place = `${data.requestId} ${data.questionIndex} ${data.kind}`;
		if (name.endsWith(":resolved")) {
			for (const kind of ["select", "custom_input"]) answered.add(`${data.requestId} ${data.questionIndex} ${kind}`);
		}
		const respond = (response: any) => {
			if (answered.has(place) || !socket) return { accepted: false, reason: "already_resolved" };
			if (!fits(data, response)) return { accepted: false, reason: "invalid_response" };
			answered.add(place);
			send({ type: "respond", requestId: data.requestId, questionIndex: data.questionIndex, response });
			return { accepted: true };
		};
		pi.events.emit(name, answerable ? { ...data, respond } : data);
	}

	/** Whether a response can be one to this request; which came first is decided on the Python side. */
	function fits(data: Json, response: any): boolean {
		const index = (value: any) => Number.isInteger(value) && value >= 0 && value < (data.options?.length ?? 0);
		const words = (value: any) => typeof value === "string" && value.trim() !== "";
		if (response?.source !== "remote") return false;
		if (response.kind === "cancel") return true;
		if (data.kind === "custom_input") return response.kind === "submit" && words(response.value);
		if (response.kind === "skip") return data.required === false;
		if (response.kind === "custom") return data.allowCustom === true && words(response.value);
		if (response.kind !== "select") return false;
		if (!data.multiSelect) return index(response.optionIndex);
		const own = response.value === undefined || (data.allowCustom && words(response.value));
		return Array.isArray(response.optionIndices) && response.optionIndices.every(index) && own;
	}

	// --- Pi's own screen -----------------------------------------------------------------------------------

	/** Show what the Python side draws, and hand it the keys. */
	async function openCanvas(id: string) {
		let shown = false;
		let finish: (() => void) | undefined;
		let early = false;
		// Wider than the terminal, a line would end Pi; it counts cells in a way of its own.
		const tui = await import("@earendil-works/pi-tui").catch(() => undefined);
		const cut = (line: string, columns: number) => tui?.truncateToWidth(line, columns, "") ?? line;
		canvases.set(id, { draw() {}, close: () => (early = true) });
		try {
			await ctx.ui.custom((screen: any, _theme: unknown, _keys: unknown, done: (value: undefined) => void) => {
				let drawn: Json = { columns: 0, lines: [] };
				let told = "";
				let receipt = 0;
				shown = true;
				finish = () => done(undefined);
				canvases.set(id, {
					draw(message: Json) {
						drawn = message;
						screen.requestRender();
					},
					close: finish,
				});
				if (early) finish();
				return {
					focused: true,
					invalidate() {},
					handleInput: (data: string) => send({ type: "canvas.key", id, data }),
					render(columns: number): string[] {
						const rows = screen.terminal?.rows ?? 24;
						if (told !== `${columns} ${rows}`) {
							told = `${columns} ${rows}`;
							send({ type: "canvas.size", id, columns, rows });
						}
						if (drawn.columns !== columns) return []; // drawn for another width, it could be too wide
						if (drawn.n > receipt) {
							receipt = drawn.n;
							send({ type: "canvas.drawn", id, n: receipt });
						}
						return drawn.lines.map((line: string) => {
							const [before, ...after] = line.split("\0");
							return cut(after.length ? before + CURSOR + after.join("") : line, columns);
						});
					},
				};
			});
		} catch {
			// What cannot be drawn is told below.
		}
		canvases.delete(id);
		send({ type: "canvas.closed", id, shown });
	}

	async function openDialog({ id, method, title, options, placeholder }: Json) {
		const controller = new AbortController();
		dialogs.set(id, controller);
		const { signal } = controller;
		try {
			const { ui } = ctx;
			const asking = method === "select" ? ui.select(title, options, { signal }) : ui.input(title, placeholder, { signal });
			send({ type: "dialog", id, value: (await asking) ?? null });
		} catch (error) {
			send({ type: "dialog", id, error: String(error) });
		}
		dialogs.delete(id);
	}

	// --- What happens in Pi --------------------------------------------------------------------------------

	const relay = (event: Json) => relaying && send({ type: "event", event });

	pi.on("session_start", async (_event: unknown, now: any) => {
		ctx = now;
		const entries: any[] = ctx.sessionManager.getEntries();
		const last = entries.filter((entry) => entry.type === "custom" && entry.customType === ENTRY).at(-1);
		hidden = last?.data?.hidden ?? [];
		if (await reach()) {
			await request({ type: "settled?" }); // so that the first prompt meets the set that is to be
			return;
		}
		register(shippedTools());
		bringBack();
		retry();
	});

	pi.on("session_shutdown", () => {
		if (socket) bringBack();
		over = true;
		clearTimeout(again);
		const stream = socket;
		if (stream) left();
		stream?.end();
	});

	pi.on("input", (event: any, now: any) => {
		ctx = now;
		if (event.source !== "extension") return;
		if (ctx.isIdle()) beginning = event.text; // taken when its run begins
		else said((one) => one.text === event.text);
	});

	pi.on("before_agent_start", async (_event: unknown, now: any) => {
		ctx = now;
		if (beginning !== undefined) said((one) => one.text === beginning);
		beginning = undefined;
		if (!socket) return;
		tellActive();
		await request({ type: "settled?" });
	});

	pi.on("agent_start", (_event: unknown, now: any) => {
		ctx = now;
		relay({ type: "agent_start" });
	});

	pi.on("agent_end", (_event: unknown, now: any) => {
		ctx = now;
		relay({ type: "agent_end" });
		// Older ones do not tell when they have settled.
		const look = () => {
			if (over) return;
			if (ctx.isIdle() && ctx.hasPendingMessages()) goOn();
			else if (ctx.isIdle()) relay({ type: "agent_settled" });
			else setTimeout(look, 10).unref();
		};
		if (relaying) setTimeout(look, 0);
	});

	pi.on("message_update", (event: any) => {
		const { type, delta, content } = event.assistantMessageEvent ?? {};
		if (type === "text_delta" || type === "text_end") {
			relay({ type: "message_update", assistantMessageEvent: { type, delta, content } });
		}
	});

	pi.on("message_end", async (event: any) => {
		const { message } = event;
		if (message.role === "assistant") {
			for (const block of message.content) {
				const { type, id, name, arguments: args } = block;
				if (type === "toolCall" && withheld.has(name)) refused.set(id, refusal(name, args, id));
			}
			const { role, stopReason, errorMessage } = message;
			relay({ type: "message_end", message: { role, stopReason, errorMessage } });
		}
		const told = await inOurWords(message);
		if (told !== message) return { message: told };
	});

	// An older one asks its model before the handlers of `message_end` are through.
	pi.on("context", async (event: any) => ({ messages: await Promise.all(event.messages.map(inOurWords)) }));

	/** Pi does not know a tool that is out of the active set, and says no more than that; we do. */
	async function inOurWords(message: any): Promise<any> {
		const { role, toolName, toolCallId, isError, content } = message;
		if (role !== "toolResult" || !isError || content[0]?.text !== `Tool ${toolName} not found`) return message;
		const text = await refused.get(toolCallId);
		return text ? { ...message, content: [{ type: "text", text }] } : message;
	}

	pi.on("tool_call", async (event: any, now: any) => {
		ctx = now;
		if (!withheld.has(event.toolName)) return;
		const reason = await refusal(event.toolName, event.input);
		if (reason) return { block: true, reason };
	});

	pi.on("tool_result", (event: any) => {
		const error = failed.get(event.toolCallId);
		failed.delete(event.toolCallId);
		return error;
	});

	pi.on("tool_execution_end", (event: any) => {
		const { toolCallId, toolName, isError, result } = event;
		const content = (result?.content ?? []).filter((block: any) => block.type === "text");
		relay({ type: "tool_execution_end", toolCallId, toolName, isError, result: { content } });
	});
}
