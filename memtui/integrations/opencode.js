// Written by memtui: it hands what happens in OpenCode to memtui's hook.
// "memtui hooks uninstall opencode" takes it away again.
import { spawn } from "node:child_process"

const COMMAND = []

// Never waits and never throws: nothing of this is worth a disturbed session.
function keep(payload) {
  try {
    const child = spawn(COMMAND[0], COMMAND.slice(1), {
      stdio: ["pipe", "ignore", "ignore"],
      detached: true,
    })
    child.on("error", () => {})
    child.stdin.on("error", () => {})
    child.stdin.end(JSON.stringify({ agent: "opencode", timestamp: Date.now(), ...payload }))
    child.unref()
  } catch {}
}

// What both versions of OpenCode's interface for plugins have in common.
function makeTeller(directory) {
  const parents = new Map() // a helper's session → the session it works for
  const said = new Map() // a session → its last message, part by part

  const tell = (session, name, more) => {
    const parent = parents.get(session)
    const helper = parent ? { agent_id: session } : {}
    const base = { session_id: parent ?? session, cwd: directory, hook_event_name: name }
    keep({ ...base, ...helper, ...more })
  }
  return {
    tell,
    start: (session, parent) => {
      if (parent) parents.set(session, parent)
      else tell(session, "SessionStart", {})
    },
    // What a helper is asked, no person said.
    ask: (session, prompt) => {
      if (prompt && !parents.has(session)) tell(session, "UserPromptSubmit", { prompt })
    },
    say: (session, message, part, text) => {
      if (said.get(session)?.message !== message)
        said.set(session, { message, parts: new Map() })
      said.get(session).parts.set(part, text)
    },
    stop: (session, isReply) => {
      const last = said.get(session)
      said.delete(session)
      const isSaid = last && isReply(last.message)
      const words = isSaid ? [...last.parts.values()].join("\n") : ""
      const name = parents.has(session) ? "SubagentStop" : "Stop"
      tell(session, name, { last_assistant_message: words })
    },
    end: (session) => {
      if (!parents.has(session)) tell(session, "SessionEnd", { reason: "deleted" })
    },
  }
}

const safely = (does) => async (...given) => {
  try {
    does(...given)
  } catch {}
}

export const Memtui = async ({ directory } = {}) => {
  const teller = makeTeller(directory)
  const roles = new Map() // a message → who wrote it
  const inputs = new Map() // a call → what it was given
  const take = {
    "session.created": ({ info }) => teller.start(info.id, info.parentID),
    "message.updated": ({ info }) => roles.set(info.id, info.role),
    "message.part.updated": ({ part }) => {
      if (part.type !== "text" || part.synthetic) return
      teller.say(part.sessionID, part.messageID, part.id, part.text)
    },
    "session.idle": ({ sessionID }) =>
      teller.stop(sessionID, (message) => roles.get(message) === "assistant"),
    "session.deleted": ({ info }) => teller.end(info.id),
  }
  return {
    "chat.message": safely(({ sessionID }, { parts }) => {
      const texts = parts.filter((part) => part.type === "text" && !part.synthetic)
      teller.ask(sessionID, texts.map((part) => part.text).join("\n"))
    }),
    "tool.execute.before": safely(({ callID }, { args }) => inputs.set(callID, args)),
    "tool.execute.after": safely(({ tool, sessionID, callID, args }, { output }) => {
      const input = args ?? inputs.get(callID)
      inputs.delete(callID)
      teller.tell(sessionID, "PostToolUse", {
        tool_name: tool,
        tool_use_id: callID,
        tool_input: input,
        tool_response: output,
      })
    }),
    event: safely(({ event }) => take[event.type]?.(event.properties)),
  }
}

// Version 2 of OpenCode.
async function setup(ctx) {
  const teller = makeTeller(ctx.location?.directory)
  const take = {
    "session.created": ({ sessionID, parentID }) => teller.start(sessionID, parentID),
    "session.text.ended": ({ sessionID, assistantMessageID, ordinal, text }) =>
      teller.say(sessionID, assistantMessageID, ordinal, text),
    "session.idle": ({ sessionID }) => teller.stop(sessionID, () => true),
    "session.deleted": ({ sessionID }) => teller.end(sessionID),
  }
  const hook = async (domain, name, does) => {
    try {
      await domain.hook(name, safely(does))
    } catch {}
  }
  const listen = async () => {
    try {
      for await (const event of ctx.event.subscribe())
        await safely(() => take[event.type]?.(event.data))()
    } catch {}
  }
  listen() // Until OpenCode ends.
  await hook(ctx.session, "prompt", ({ sessionID, prompt }) =>
    teller.ask(sessionID, prompt.text))
  await hook(ctx.tool, "execute.after", (done) => {
    const call = { tool_name: done.tool, tool_use_id: done.id, tool_input: done.input }
    if (done.status === "error")
      teller.tell(done.sessionID, "PostToolUseFailure", {
        ...call,
        error: String(done.error?.message ?? done.error),
      })
    else
      teller.tell(done.sessionID, "PostToolUse", {
        ...call,
        tool_response: done.result?.content ?? done.result?.output ?? done.result,
      })
  })
}

// Version 1.18.29 and later call server, version 2 calls setup.
export default { id: "memtui", server: Memtui, setup }
