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
	// A code is accepted in small letters, with letters that look like digits, and with other hyphens and
	// spaces; in no other form.
	const code = "K7QF3-M2XP9"
	for text, want := range map[string]string{
		code: code, "k7qf3-m2xp9": code, "K7QF3M2XP9": code, " k7qf3 m2xp9 ": code, "K7-QF-3M-2X-P9": code, "oil00-11111": "01100-11111",
		"": "", "K7QF3-M2XP": "", "K7QF3-M2XP99": "", "K7QF3-M2XPU": "", "K7QF3_M2XP9": "", "K7QF3-M2XPÜ": "", "K7QF3-M2X\xff": "", strings.Repeat("-", 1000) + code: "",
	} {
		got, ok := agent.ParseDeviceCode(text)
		if ok != (want != "") || got != want {
			t.Errorf("%q: %q, %t, want %q", text, got, ok, want)
		}
	}
}

func TestFormatDeviceCode_IsParsedBack(t *testing.T) {
	t.Parallel()
	// Each code is read back as it was written, and each of its 50 bits makes another code.
	rapid.Check(t, func(t *rapid.T) {
		var random [7]byte
		copy(random[:], rapid.SliceOfN(rapid.Byte(), 7, 7).Draw(t, "random"))
		code := agent.FormatDeviceCode(random)
		for _, typed := range []string{code, strings.ToLower(code), strings.ReplaceAll(code, "-", "")} {
			if got, ok := agent.ParseDeviceCode(typed); !ok || got != code || len(got) != 11 {
				t.Fatalf("%q: %q, %t", typed, got, ok)
			}
		}
		bit := rapid.IntRange(0, 49).Draw(t, "bit")
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
	if want := (agent.DeviceCode{Platform: acme, Agent: agentID, Hash: agent.DeviceCodeHash{1}, CreatedAt: now, ExpiresAt: now.Add(24 * time.Hour)}); err != nil || code != want || code.Redeemed() {
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
		if err != nil || !connected.Connected() || connected.TokenHash != token || !connected.ConnectedAt.Equal(c.at) || !connected.UpdatedAt.After(c.agent.UpdatedAt) || !used.RedeemedAt.Equal(c.at) {
			t.Errorf("%s: %+v, %+v, %v", name, connected, used, err)
		}
		if _, err := connected.IssueCode(agent.DeviceCodeHash{2}, c.at); !fault.Is(err, fault.Conflict) {
			t.Errorf("%s: a code for a connected agent: %v", name, err)
		}
	}
}
