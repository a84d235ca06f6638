package cli

import (
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"time"

	"causeway/core/ident"
	"causeway/core/wallet"
)

// WalletsCommand is about embedded wallets.
type WalletsCommand struct {
	Show   walletsShowCommand   `cmd:"" help:"Print the credentials and sessions of a wallet, and when its words were exported. Who looked is recorded."`
	Verify walletsVerifyCommand `cmd:"" help:"Verify that the owner of a wallet signed a payment, from its saved timeline and the public key of the wallet alone. Needs no database and no connection."`
}

type walletsVerifyCommand struct {
	File string `arg:"" help:"Saved response of GET /transactions/{transactionId}/timeline." type:"path"`
	Key  string `required:"" help:"Public key of the wallet: compressed, 66 hexadecimal digits. It follows from the words of the wallet." placeholder:"KEY"`
}

// savedTimeline is what the command reads of a timeline.
type savedTimeline struct {
	Data []struct {
		At            time.Time `json:"at"`
		Type          string    `json:"type"`
		Authorization struct {
			AccountID   string `json:"accountId"`
			Payload     string `json:"payload"`
			Signature   string `json:"signature"`
			Form        string `json:"signatureForm"`
			SessionID   string `json:"sessionId"`
			SessionKey  string `json:"sessionPublicKey"`
			Certificate struct {
				Statement string `json:"statement"`
				Key       string `json:"walletPublicKey"`
				Signature string `json:"signature"`
			} `json:"sessionCertificate"`
		} `json:"authorization"`
	} `json:"data"`
}

// Run verifies a payment with nothing but the file and the key.
func (c walletsVerifyCommand) Run(env *Env) error {
	key, err := hex.DecodeString(c.Key)
	if err != nil || len(key) != len(wallet.Key{}) {
		return errors.New("--key: must be a compressed public key, 66 hexadecimal digits")
	}
	text, err := os.ReadFile(c.File)
	if err != nil {
		return err
	}
	authorization, err := readAuthorization(text)
	if err != nil {
		return fmt.Errorf("%s: %w", c.File, err)
	}
	if err := authorization.Verify(wallet.Key(key)); err != nil {
		return fmt.Errorf("not verified: %w", err)
	}
	return env.say(nil, "Verified: the owner of the wallet %s signed this payment at %s, in %s.\n%s\n",
		authorization.Account, authorization.SignedAt.UTC().Format(time.RFC3339), authorization.Session, authorization.Payload)
}

// readAuthorization returns the evidence in a saved timeline.
func readAuthorization(text []byte) (wallet.Authorization, error) {
	var timeline savedTimeline
	if err := json.Unmarshal(text, &timeline); err != nil {
		return wallet.Authorization{}, fmt.Errorf("not a timeline: %w", err)
	}
	for _, e := range timeline.Data {
		if e.Type != "AUTHORIZED" {
			continue
		}
		saved := e.Authorization
		a := wallet.Authorization{Payload: saved.Payload, Signature: saved.Signature, SignedAt: e.At}
		if saved.Form == string(wallet.FormTestValue) || saved.SessionID == "" {
			return a, errors.New("the payment was made with a test value of the sandbox, which proves nothing")
		}
		var failed [5]error
		var session, key []byte
		a.Account, failed[0] = ident.ParseInternalAccount(saved.AccountID)
		a.Session, failed[1] = ident.ParseSession(saved.SessionID)
		session, failed[2] = hex.DecodeString(saved.SessionKey)
		key, failed[3] = hex.DecodeString(saved.Certificate.Key)
		a.Certificate.Signature, failed[4] = hex.DecodeString(saved.Certificate.Signature)
		a.Certificate.Statement = saved.Certificate.Statement
		copy(a.SessionKey[:], session)
		copy(a.Certificate.Key[:], key)
		return a, errors.Join(failed[:]...)
	}
	return wallet.Authorization{}, errors.New("no event AUTHORIZED: no wallet paid this transaction")
}
