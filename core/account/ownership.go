package account

import (
	"crypto/ed25519"
	"fmt"
	"strings"
	"time"

	"github.com/btcsuite/btcd/btcutil/base58"
	"github.com/google/uuid"

	"causeway/core/bitcoin"
	"causeway/core/corridor"
	"causeway/core/ethereum"
	"causeway/core/event"
	"causeway/core/fault"
	"causeway/core/ident"
)

// OwnershipType is who owns a wallet, as the platform says; empty if it has not said so.
type OwnershipType string

// The types: the customer or platform that registers it, or somebody else.
const (
	FirstParty OwnershipType = "FIRST_PARTY"
	ThirdParty OwnershipType = "THIRD_PARTY"
)

// OwnershipTypes lists every type.
var OwnershipTypes = []OwnershipType{FirstParty, ThirdParty}

// ProofMethod is a way in which the owner of a wallet proves that it is theirs.
type ProofMethod string

// The methods: a signature by the wallet, or a check by the identity provider that its owner is present.
const (
	WalletSignature ProofMethod = "WALLET_SIGNATURE"
	Liveness        ProofMethod = "LIVENESS"
)

// ProofMethods lists every method.
var ProofMethods = []ProofMethod{WalletSignature, Liveness}

// ChallengeLifetime is how long a challenge can be answered.
const ChallengeLifetime = 30 * time.Minute

// Challenge asks the owner of a wallet for a proof. An account has one at most.
type Challenge struct {
	ID     uuid.UUID
	Method ProofMethod
	// Message is what the wallet signs; empty for LIVENESS.
	Message   string
	CreatedAt time.Time
	ExpiresAt time.Time
}

// Proof is how and when the owner of a wallet has proven that it is theirs.
type Proof struct {
	Method   ProofMethod
	ProvenAt time.Time
	// Message and Signature are the evidence of WALLET_SIGNATURE.
	Message   string
	Signature string
}

// VASP returns the name of the custodian that holds the wallet; empty for none.
func (a External) VASP() string { return a.Fields["vaspName"] }

// Unproven reports whether the account waits for the proof that its owner owns it, so that it is paid small amounts only.
func (s Status) Unproven() bool { return s == PendingOwnershipVerification || s == Unverified }

// Payable reports whether an account of the status is paid at all.
func (s Status) Payable() bool { return s == Active || s.Unproven() }

// statusOfNew returns the status of a new account: wallets of their owners alone have to be proven. A payee on Lightning has no
// address that could sign.
func (a External) statusOfNew() Status {
	if a.Ownership == FirstParty && a.IsCrypto() && a.Type != LightningType && a.VASP() == "" {
		return PendingOwnershipVerification
	}
	return Active
}

// CheckProvable returns CONFLICT unless the account waits for the proof of its owner.
func (a External) CheckProvable() error {
	if a.Status.Unproven() {
		return nil
	}
	return fault.New(fault.Conflict, "The account is %s and needs no proof of ownership. Only wallets that are registered with ownershipType "+
		"FIRST_PARTY and without vaspName do, until they are proven.", a.Status)
}

// NewSignatureChallenge returns the challenge to sign a message with the wallet, or INVALID_INPUT if its owner cannot.
func (a External) NewSignatureChallenge(id uuid.UUID, platform, nonce string, now time.Time) (Challenge, error) {
	if reason := a.cannotSign(); reason != "" {
		return Challenge{}, fault.Invalid(fault.Field{Field: "method", Message: reason + "; use " + string(Liveness)})
	}
	c := Challenge{ID: id, Method: WalletSignature, CreatedAt: now, ExpiresAt: now.Add(ChallengeLifetime).Truncate(time.Millisecond)}
	c.Message = strings.Join([]string{
		platform + " asks you to prove that this wallet is yours.",
		"Your signature moves no money and gives nobody access to the wallet.",
		"",
		"Account: " + a.ID.String(),
		"Wallet: " + string(a.Type) + " " + a.Fields["address"],
		"Nonce: " + nonce,
		"Expires: " + c.ExpiresAt.UTC().Format("2006-01-02T15:04:05.000Z"),
	}, "\n")
	return c, nil
}

// cannotSign returns why the owner of the wallet cannot sign messages that are checked here; empty if they can.
func (a External) cannotSign() string {
	address := a.Fields["address"]
	switch chain := a.Rails[0]; {
	case isEVM(chain):
		_, err := ethereum.ParseAddress(address)
		return reasonOf(err)
	case chain == corridor.Bitcoin:
		parsed, err := bitcoin.ParseAddress(address)
		if err == nil && !parsed.SignsMessages() {
			return "is not possible: addresses of Taproot and of SegWit scripts sign no messages"
		}
		return reasonOf(err)
	case chain == corridor.Altchain:
		if _, ok := solanaKey(address); !ok {
			return "is not possible: the address is none of Solana"
		}
		return ""
	default:
		return "is not possible for " + string(a.Type)
	}
}

func reasonOf(err error) string {
	if err != nil {
		return "is not possible: the address " + err.Error()
	}
	return ""
}

func isEVM(chain corridor.Rail) bool {
	return chain == corridor.Ethereum || chain == corridor.Base || chain == corridor.Polygon || chain == corridor.Plasma
}

func solanaKey(address string) (ed25519.PublicKey, bool) {
	key := base58.Decode(address)
	return key, len(key) == ed25519.PublicKeySize
}

// Signed is an answer to a challenge of WALLET_SIGNATURE.
type Signed struct {
	Signature string
	Scheme    bitcoin.MessageScheme
	// IsTestValue: the signature stands for a valid one.
	IsTestValue bool
}

// Verify returns the account after an answer to its challenge: ACTIVE, or UNVERIFIED with INVALID_INPUT if the answer is wrong or late.
// The account is to be stored in both cases. It is CONFLICT if nothing waits for an answer.
func (a External) Verify(s Signed, now time.Time) (External, error) {
	if err := a.CheckProvable(); err != nil {
		return a, err
	}
	c := a.Challenge
	if c == nil || c.Method != WalletSignature {
		return a, fault.New(fault.Conflict, "There is no message to sign. Ask for one with POST …/challenge and the method %s.",
			WalletSignature)
	}
	if !now.Before(c.ExpiresAt) {
		a = a.withStatus(Unverified, now)
		a.Challenge = nil
		return a, fault.Invalid(fault.Field{Field: "signature", Message: "is late: the message to sign expired at " +
			c.ExpiresAt.UTC().Format(time.RFC3339) + "; ask for a new one"})
	}
	if !s.IsTestValue {
		if reason := a.checkSignature(c.Message, s); reason != "" {
			return a.withStatus(Unverified, now), fault.Invalid(fault.Field{Field: "signature", Message: reason})
		}
	}
	return a.proven(Proof{WalletSignature, now, c.Message, s.Signature}), nil
}

// checkSignature returns why a signature is not by the owner of the wallet; empty if it is.
func (a External) checkSignature(message string, s Signed) string {
	const wrong = "is not by the owner of the wallet, or of another message"
	address := a.Fields["address"]
	switch chain := a.Rails[0]; {
	case isEVM(chain):
		signer, err := ethereum.MessageSigner(message, s.Signature)
		if err != nil {
			return err.Error()
		}
		if owner, err := ethereum.ParseAddress(address); err != nil || owner != signer {
			return wrong
		}
	case chain == corridor.Bitcoin:
		owner, err := bitcoin.ParseAddress(address)
		if err == nil {
			err = owner.CheckMessage(message, s.Signature, s.Scheme)
		}
		if err != nil {
			return err.Error()
		}
	case chain == corridor.Altchain:
		signature := base58.Decode(s.Signature)
		if len(signature) != ed25519.SignatureSize {
			return fmt.Sprintf("must be the base58 text of %d bytes", ed25519.SignatureSize)
		}
		if key, ok := solanaKey(address); !ok || !ed25519.Verify(key, []byte(message), signature) {
			return wrong
		}
	default:
		return wrong
	}
	return ""
}

// LivenessSession is where the owner of a wallet shows that they are present. The token is for the SDK of the provider; it may be empty.
type LivenessSession struct{ Link, Token string }

// LivenessVerdict is what the identity provider says about a check.
type LivenessVerdict string

// The verdicts.
const (
	LivenessWaits  LivenessVerdict = "PENDING"
	LivenessPassed LivenessVerdict = "PASSED"
	LivenessFailed LivenessVerdict = "FAILED"
)

// LivenessDecided returns the account after the identity provider has decided about a challenge. It does not change if the challenge is
// not that of the account any more.
func (a External) LivenessDecided(challenge uuid.UUID, passed bool, now time.Time) External {
	if !a.AwaitsLiveness(challenge) {
		return a
	}
	if passed {
		return a.proven(Proof{Method: Liveness, ProvenAt: now})
	}
	a.Challenge = nil
	return a.withStatus(Unverified, now)
}

// AwaitsLiveness reports whether the decision of the identity provider about a challenge can still prove the account.
func (a External) AwaitsLiveness(challenge uuid.UUID) bool {
	return a.Status.Unproven() && a.Challenge != nil && a.Challenge.ID == challenge && a.Challenge.Method == Liveness && !a.Deleted()
}

func (a External) proven(by Proof) External {
	a.Proof, a.Challenge = &by, nil
	return a.withStatus(Active, by.ProvenAt)
}

func (a External) withStatus(to Status, now time.Time) External {
	a.Status, a.UpdatedAt = to, now
	return a
}

// StatusUpdatedEvent returns the event that the status of the account changed.
func (a External) StatusUpdatedEvent(id ident.Webhook, at time.Time) event.Event {
	return event.Event{ID: id, Platform: a.Platform, Type: event.ExternalAccountStatus, Name: event.ExternalAccountStatusUpdated,
		Subject: a.ID.UUID(), OccurredAt: at, Resource: a}
}
