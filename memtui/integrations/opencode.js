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

export const Memtui = async ({ directory } = {}) => {
  const parents = new Map() // a helper's session → the session it works for
  const roles = new Map() // a message → who wrote it
  const said = new Map() // a session → its last message, part by part
  const inputs = new Map() // a call → what it was given

  const tell = (session, name, more) => {
    const parent = parents.get(session)
    const helper = parent ? { agent_id: session } : {}
    const base = { session_id: parent ?? session, cwd: directory, hook_event_name: name }
    keep({ ...base, ...helper, ...more })
  }
  const lastWords = (session) => {
    const last = said.get(session)
    said.delete(session)
    if (!last || roles.get(last.message) !== "assistant") return ""
    return [...last.parts.values()].join("\n")
  }
  const take = {
    "session.created": ({ info }) => {
      if (info.parentID) parents.set(info.id, info.parentID)
      else tell(info.id, "SessionStart", {})
    },
    "message.updated": ({ info }) => roles.set(info.id, info.role),
    "message.part.updated": ({ part }) => {
      if (part.type !== "text" || part.synthetic) return
      let last = said.get(part.sessionID)
      if (last?.message !== part.messageID) {
        last = { message: part.messageID, parts: new Map() }
        said.set(part.sessionID, last)
      }
      last.parts.set(part.id, part.text)
    },
    "session.idle": ({ sessionID }) => {
      const name = parents.has(sessionID) ? "SubagentStop" : "Stop"
      tell(sessionID, name, { last_assistant_message: lastWords(sessionID) })
    },
    "session.deleted": ({ info }) => {
      if (!parents.has(info.id)) tell(info.id, "SessionEnd", { reason: "deleted" })
    },
  }
  const safely = (does) => async (...given) => {
    try {
      does(...given)
    } catch {}
  }
  return {
    "chat.message": safely(({ sessionID }, { parts }) => {
      const texts = parts.filter((part) => part.type === "text" && !part.synthetic)
      const prompt = texts.map((part) => part.text).join("\n")
      // What a helper is asked, no person said.
      if (prompt && !parents.has(sessionID)) tell(sessionID, "UserPromptSubmit", { prompt })
    }),
    "tool.execute.before": safely(({ callID }, { args }) => inputs.set(callID, args)),
    "tool.execute.after": safely(({ tool, sessionID, callID, args }, { output }) => {
      const input = args ?? inputs.get(callID)
      inputs.delete(callID)
      tell(sessionID, "PostToolUse", {
        tool_name: tool,
        tool_use_id: callID,
        tool_input: input,
        tool_response: output,
      })
    }),
    event: safely(({ event }) => take[event.type]?.(event.properties)),
  }
}
