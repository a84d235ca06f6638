package agent_test

import (
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"causeway/core/agent"
	"causeway/core/fault"
)

func TestParseDeviceCode(t *testing.T) {
	t.Parallel()
	// A code is accepted in small letters, without its prefix, with letters that look like digits, and with other
	// hyphens and spaces; in no other form.
	const code = "AGENT-K7QF-M2XP"
	for text, want := range map[string]string{
		code: code, "agent-k7qf-m2xp": code, "AGENTK7QFM2XP": code, " agent k7qf m2xp ": code, "K7QF-M2XP": code, "k7qfm2xp": code,
		"K7-QF-M2-XP": code,
		"oil0-1111":   "AGENT-0110-1111", "AGENT-AGEN-TAGE": "AGENT-AGEN-TAGE", "AGEN-TAGE": "AGENT-AGEN-TAGE",
		"": "", "AGENT": "", "AGENT-K7QF": "", "AGENT-AGENT-K7QF-M2XP": "", "K7QF-M2X": "", "K7QF-M2XP9": "", "AGENT-K7QF-M2XP9": "",
		"BGENT-K7QF-M2XP": "",
		"K7QF-M2XU":       "", "K7QF_M2XP": "", "K7QF-M2XÜ": "", "K7QF-M2X\xff": "", "K7QF3-M2XP9": "", strings.Repeat("-", 1000) + code: "",
	} {
		got, ok := agent.ParseDeviceCode(text)
		if ok != (want != "") || got != want {
			t.Errorf("%q: %q, %t, want %q", text, got, ok, want)
		}
	}
}

func TestFormatDeviceCode_IsParsedBack(t *testing.T) {
	t.Parallel()
	// Each code is read back as it was written, and each of its 40 bits makes another code.
	rapid.Check(t, func(t *rapid.T) {
		var random [5]byte
		copy(random[:], rapid.SliceOfN(rapid.Byte(), 5, 5).Draw(t, "random"))
		code := agent.FormatDeviceCode(random)
		for _, typed := range []string{code, strings.ToLower(code), strings.ReplaceAll(code, "-", ""), strings.TrimPrefix(code, "AGENT-")} {
			if got, ok := agent.ParseDeviceCode(typed); !ok || got != code || len(got) != 15 {
				t.Fatalf("%q: %q, %t", typed, got, ok)
			}
		}
		bit := rapid.IntRange(0, 39).Draw(t, "bit")
		random[bit/8] ^= 0x80 >> (bit % 8)
		if agent.FormatDeviceCode(random) == code {
			t.Fatalf("bit %d is not in the code", bit)
		}
	})
}

func TestAgent_Redeem(t *testing.T) {
	t.Parallel()
	// A code connects the agent once, until it has expired or a newer one was issued, whether or not the agent
	// is paused; a connected agent has no new codes.
	fresh := create(t, valid())
	code, err := fresh.IssueCode(agent.DeviceCodeHash{1}, now)
	if want := (agent.DeviceCode{Platform: acme, Agent: agentID, Hash: agent.DeviceCodeHash{1}, CreatedAt: now,
		ExpiresAt: now.Add(24 * time.Hour)}); err != nil || code != want || code.Redeemed() {
		t.Fatalf("issued %+v, %v", code, err)
	}
	paused := fresh
	paused.Paused = true
	voided, redeemed := code, code
	voided.VoidedAt, redeemed.RedeemedAt = now, now
	both := redeemed
	both.ExpiresAt = now
	token := agent.TokenHash{7}
	for name, c := range map[string]struct {
		agent agent.Agent
		code  agent.DeviceCode
		at    time.Time
		want  fault.Code
	}{
		"at once":              {fresh, code, now, ""},
		"at last":              {fresh, code, code.ExpiresAt.Add(-1), ""},
		"paused":               {paused, code, now, ""},
		"expired":              {fresh, code, code.ExpiresAt, fault.DeviceCodeExpired},
		"voided":               {fresh, voided, now, fault.DeviceCodeExpired},
		"redeemed":             {fresh, redeemed, now, fault.DeviceCodeAlreadyRedeemed},
		"redeemed and expired": {fresh, both, now, fault.DeviceCodeAlreadyRedeemed},
	} {
		connected, used, err := c.agent.Redeem(c.code, token, c.at)
		if c.want != "" {
			if !fault.Is(err, c.want) || connected.Connected() || used != c.code {
				t.Errorf("%s: %+v, %+v, %v", name, connected, used, err)
			}
			continue
		}
		if err != nil || !connected.Connected() || connected.TokenHash != token || !connected.ConnectedAt.Equal(c.at) ||
			!connected.UpdatedAt.After(c.agent.UpdatedAt) || !used.RedeemedAt.Equal(c.at) {
			t.Errorf("%s: %+v, %+v, %v", name, connected, used, err)
		}
		if _, err := connected.IssueCode(agent.DeviceCodeHash{2}, c.at); !fault.Is(err, fault.Conflict) {
			t.Errorf("%s: a code for a connected agent: %v", name, err)
		}
	}
}
