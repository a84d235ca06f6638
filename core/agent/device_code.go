package agent

import (
	"crypto/sha256"
	"encoding/base32"
	"strings"
	"time"

	"causeway/core/fault"
	"causeway/core/ident"
)

// DeviceCode is a code that a person types into a program to pair it with an agent, as the user codes of
// RFC 8628. It is redeemed once, for the access token of the agent. Only a keyed hash of the code is stored.
type DeviceCode struct {
	Platform  ident.Platform
	Agent     ident.Agent
	Hash      DeviceCodeHash
	CreatedAt time.Time
	ExpiresAt time.Time
	// VoidedAt is when a newer code of the agent was issued; zero if none was.
	VoidedAt   time.Time
	RedeemedAt time.Time // zero until redeemed
}

// DeviceCodeHash is the keyed hash of a code.
type DeviceCodeHash [sha256.Size]byte

// Redeemed reports whether the code was redeemed.
func (c DeviceCode) Redeemed() bool { return !c.RedeemedAt.IsZero() }

// DeviceCodeLifetime is how long a code can be redeemed.
const DeviceCodeLifetime = 24 * time.Hour

const (
	// deviceCodeAlphabet has no letters that look like digits (Crockford's base 32).
	deviceCodeAlphabet = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"
	deviceCodeLength   = 8 // 40 bits
	deviceCodePrefix   = "AGENT"
)

var deviceCodeEncoding = base32.NewEncoding(deviceCodeAlphabet).WithPadding(base32.NoPadding)

// FormatDeviceCode returns the code with 40 random bits, such as "AGENT-K7QF-M2XP".
func FormatDeviceCode(random [5]byte) string {
	return joinDeviceCode(deviceCodeEncoding.EncodeToString(random[:]))
}

// ParseDeviceCode returns the code that a person typed, as FormatDeviceCode wrote it: in small letters, without the
// prefix, with letters that look like digits, and with other hyphens and spaces too. It returns false for what
// cannot be one.
func ParseDeviceCode(text string) (string, bool) {
	if len(text) > 4*len("AGENT-XXXX-XXXX") {
		return "", false
	}
	code := strings.NewReplacer("-", "", " ", "", "O", "0", "I", "1", "L", "1").Replace(strings.ToUpper(text))
	if len(code) > deviceCodeLength {
		code = strings.TrimPrefix(code, deviceCodePrefix)
	}
	if len(code) != deviceCodeLength || strings.Trim(code, deviceCodeAlphabet) != "" {
		return "", false
	}
	return joinDeviceCode(code), true
}

func joinDeviceCode(code string) string {
	return deviceCodePrefix + "-" + code[:deviceCodeLength/2] + "-" + code[deviceCodeLength/2:]
}

// IssueCode returns a new code of the agent. Faults: CONFLICT while a program is connected.
func (a Agent) IssueCode(hash DeviceCodeHash, now time.Time) (DeviceCode, error) {
	if a.Connected() {
		return DeviceCode{}, &fault.Error{
			Code: fault.Conflict, Reason: "Agent connected",
			Message: "A program is connected to the agent " + a.ID.String() + " already. To connect another one, delete the agent and create a " +
				"new one.",
		}
	}
	return DeviceCode{Platform: a.Platform, Agent: a.ID, Hash: hash, CreatedAt: now, ExpiresAt: now.Add(DeviceCodeLifetime)}, nil
}

// Redeem returns the agent with an access token, and its redeemed code. Faults:
// DEVICE_CODE_ALREADY_REDEEMED, DEVICE_CODE_EXPIRED.
func (a Agent) Redeem(c DeviceCode, token TokenHash, now time.Time) (Agent, DeviceCode, error) {
	switch {
	case c.Redeemed():
		return a, c, fault.New(fault.DeviceCodeAlreadyRedeemed, "The device code was redeemed already. A code connects one program, once.")
	case !c.VoidedAt.IsZero() || !now.Before(c.ExpiresAt):
		return a, c, fault.New(fault.DeviceCodeExpired,
			"The device code has expired, or a newer one was issued. Ask the platform for a new code.")
	}
	a.TokenHash, a.ConnectedAt, a.UpdatedAt = token, now, a.nextUpdateTime(now)
	c.RedeemedAt = now
	return a, c, nil
}

// DeviceCodeNotFound returns DEVICE_CODE_NOT_FOUND.
func DeviceCodeNotFound() error {
	return fault.New(fault.DeviceCodeNotFound, "There is no such device code. Check it for typing errors.")
}
