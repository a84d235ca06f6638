package portstest

import (
	"strings"
	"testing"
	"time"

	"causeway/core/fault"
	"causeway/core/platform"
	"causeway/core/wallet"
	"causeway/ports"
)

// WalletProofs checks that what is no proof is refused with the fault that the port promises, whatever it is.
// The platform must have all settings for wallets.
func WalletProofs(t *testing.T, p platform.Platform, proofs ports.WalletProofs) {
	t.Helper()
	t.Run("codes", func(t *testing.T) {
		t.Parallel()
		// A code has digits, and capital letters only if it may.
		for _, alphanumeric := range []bool{false, true} {
			code, err := proofs.NewCode(6, alphanumeric)
			allowed := "0123456789"
			if alphanumeric {
				allowed += "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
			}
			if err != nil || len(code) != 6 || strings.Trim(code, allowed) != "" {
				t.Errorf("code %q, %v", code, err)
			}
		}
		if proofs.AcceptsTestCode("") || proofs.AcceptsTestCode("12") {
			t.Error("a test code is accepted that is none")
		}
	})
	t.Run("refusals", func(t *testing.T) {
		t.Parallel()
		// Nothing, text that is no base64, and base64 that is nothing.
		now := time.Date(2026, 11, 22, 12, 0, 0, 0, time.UTC)
		challenge := []byte("0123456789abcdef0123456789abcdef")
		for _, text := range []string{"", "?", "AAAA", "e30.e30.AA", strings.Repeat("A", 1<<16)} {
			_, registerPasskey := proofs.RegisterPasskey(t.Context(), p, challenge, wallet.Attestation{CredentialID: text, ClientDataJSON: text,
				AttestationObject: text})
			wantFault(t, text, registerPasskey, fault.InvalidInput, "")
			_, checkPasskey := proofs.CheckPasskey(t.Context(), p, wallet.PasskeyKey{CredentialID: []byte{0, 0, 0}}, challenge,
				wallet.Assertion{CredentialID: text, ClientDataJSON: text, AuthenticatorData: text, Signature: text})
			wantFault(t, text, checkPasskey, fault.Unauthorized, wallet.ReasonPasskey)
			_, registerIdentity := proofs.RegisterIdentity(t.Context(), p, text, now)
			wantFault(t, text, registerIdentity, fault.InvalidInput, "")
			checkIdentity := proofs.CheckIdentity(t.Context(), p, wallet.Identity{}, text, wallet.ClientKey{}, now)
			wantFault(t, text, checkIdentity, fault.Unauthorized, wallet.ReasonIdentity)
			session, checkSignature := proofs.CheckSignature("payload", text, []wallet.Session{{Nickname: "Ana"}})
			wantFault(t, text, checkSignature, fault.Unauthorized, wallet.ReasonSignature)
			if session.Nickname != "" {
				t.Errorf("a session for the signature %.20q", text)
			}
		}
	})
}

func wantFault(t *testing.T, proof string, err error, code fault.Code, reason string) {
	t.Helper()
	if f, ok := fault.As(err); !ok || f.Code != code || f.Reason != reason || f.Message == "" {
		t.Errorf("proof %.20q: %v, want %s %s", proof, err, code, reason)
	}
}
