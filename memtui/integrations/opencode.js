// Written by memtui: it passes the events of OpenCode to memtui's hook.
// "memtui hooks uninstall opencode" removes it.
import { spawn } from "node:child_process"

const COMMAND = []

// Neither waits nor throws, so that the session is never disturbed.
function record(payload) {
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

// The part common to both versions of OpenCode's interface for plugins.
function makeReporter(directory) {
  const parents = new Map() // a subagent's session → the session it works for
  const messages = new Map() // a session → its last message, part by part

  const report = (session, name, more) => {
    const parent = parents.get(session)
    const subagent = parent ? { agent_id: session } : {}
    const base = { session_id: parent ?? session, cwd: directory, hook_event_name: name }
    record({ ...base, ...subagent, ...more })
  }
  return {
    report,
    start: (session, parent) => {
      if (parent) parents.set(session, parent)
      else report(session, "SessionStart", {})
    },
    // Prompts to a subagent are not the user's.
    ask: (session, prompt) => {
      if (prompt && !parents.has(session)) report(session, "UserPromptSubmit", { prompt })
    },
    addText: (session, message, part, text) => {
      if (messages.get(session)?.message !== message)
        messages.set(session, { message, parts: new Map() })
      messages.get(session).parts.set(part, text)
    },
    stop: (session, isReply) => {
      const last = messages.get(session)
      messages.delete(session)
      const hasReply = last && isReply(last.message)
      const words = hasReply ? [...last.parts.values()].join("\n") : ""
      const name = parents.has(session) ? "SubagentStop" : "Stop"
      report(session, name, { last_assistant_message: words })
    },
    end: (session) => {
      if (!parents.has(session)) report(session, "SessionEnd", { reason: "deleted" })
    },
  }
}

const safely = (does) => async (...given) => {
  try {
    does(...given)
  } catch {}
}

export const Memtui = async ({ directory } = {}) => {
  const reporter = makeReporter(directory)
  const roles = new Map() // a message → who wrote it
  const inputs = new Map() // a call → what it was given
  const take = {
    "session.created": ({ info }) => reporter.start(info.id, info.parentID),
    "message.updated": ({ info }) => roles.set(info.id, info.role),
    "message.part.updated": ({ part }) => {
      if (part.type !== "text" || part.synthetic) return
      reporter.addText(part.sessionID, part.messageID, part.id, part.text)
    },
    "session.idle": ({ sessionID }) =>
      reporter.stop(sessionID, (message) => roles.get(message) === "assistant"),
    "session.deleted": ({ info }) => reporter.end(info.id),
  }
  return {
    "chat.message": safely(({ sessionID }, { parts }) => {
      const texts = parts.filter((part) => part.type === "text" && !part.synthetic)
      reporter.ask(sessionID, texts.map((part) => part.text).join("\n"))
    }),
    "tool.execute.before": safely(({ callID }, { args }) => inputs.set(callID, args)),
    "tool.execute.after": safely(({ tool, sessionID, callID, args }, { output, metadata }) => {
      const input = args ?? inputs.get(callID)
      inputs.delete(callID)
      reporter.report(sessionID, "PostToolUse", {
        tool_name: tool,
        tool_use_id: callID,
        tool_input: input,
        tool_response: output,
        exit: metadata?.exit, // null if a signal ended the command
      })
    }),
    event: safely(({ event }) => take[event.type]?.(event.properties)),
  }
}

// Version 2 of OpenCode.
async function setup(ctx) {
  const reporter = makeReporter(ctx.location?.directory)
  const take = {
    "session.created": ({ sessionID, parentID }) => reporter.start(sessionID, parentID),
    "session.text.ended": ({ sessionID, assistantMessageID, ordinal, text }) =>
      reporter.addText(sessionID, assistantMessageID, ordinal, text),
    "session.idle": ({ sessionID }) => reporter.stop(sessionID, () => true),
    "session.deleted": ({ sessionID }) => reporter.end(sessionID),
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
    reporter.ask(sessionID, prompt.text))
  await hook(ctx.tool, "execute.after", (done) => {
    const call = { tool_name: done.tool, tool_use_id: done.id, tool_input: done.input }
    if (done.status === "error")
      reporter.report(done.sessionID, "PostToolUseFailure", {
        ...call,
        error: String(done.error?.message ?? done.error),
      })
    else
      reporter.report(done.sessionID, "PostToolUse", {
        ...call,
        tool_response: done.result?.content ?? done.result?.output ?? done.result,
        exit: done.result?.metadata?.exit ?? done.result?.structured?.exit,
      })
  })
}

// Version 1.18.29 and later call server, version 2 calls setup.
export default { id: "memtui", server: Memtui, setup }
