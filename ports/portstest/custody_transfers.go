package portstest

import (
	ecdsap256 "crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"
	"math/big"
	"strings"
	"testing"
	"time"

	"github.com/decred/dcrd/dcrec/secp256k1/v4/ecdsa"
	"github.com/google/uuid"

	"causeway/core/ethereum"
	"causeway/core/ident"
	"causeway/core/wallet"
	"causeway/ports"
)

// custodySession is a session of a wallet with its private key.
type custodySession struct {
	wallet.Session
	private *ecdsap256.PrivateKey
}

func newCustodySession(t *testing.T, custody ports.Custody, certifiedBy, of ports.WalletID) custodySession {
	t.Helper()
	private, err := ecdsap256.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	opened := time.Date(2026, 3, 14, 12, 0, 0, 0, time.UTC)
	s := custodySession{private: private, Session: wallet.Session{Platform: of.Platform, Account: of.Account, Type: wallet.Passkey,
		CreatedAt: opened, ExpiresAt: opened.Add(wallet.SessionLifetime),
		PublicKey: wallet.SessionKey(elliptic.MarshalCompressed(elliptic.P256(), private.X, private.Y))}}
	s.ID.SetUUID(uuid.New())
	s.Credential.SetUUID(uuid.New())
	if s.Certificate, err = custody.Sign(t.Context(), certifiedBy, s.Statement()); err != nil {
		t.Fatal(err)
	}
	return s
}

func (s custodySession) sign(t *testing.T, of ports.WalletID, id ident.Transaction, payload string) wallet.Authorization {
	t.Helper()
	digest := sha256.Sum256([]byte(payload))
	der, err := ecdsap256.SignASN1(rand.Reader, s.private, digest[:])
	if err != nil {
		t.Fatal(err)
	}
	return wallet.NewAuthorization(of.Platform, id, of.Account, payload, base64.StdEncoding.EncodeToString(der), s.Session, s.CreatedAt)
}

const (
	custodyContract = "0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913"
	custodyTo       = "0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed"
)

// custodyPayload returns a payload of a payment over a chain.
func custodyPayload(of ports.WalletID, id ident.Transaction) string {
	return fmt.Sprintf(`{"type":"PAYMENT","version":2,"quoteId":"Quote:%s","transactionId":"%s","platformId":"%s","accountId":"%s",`+
		`"totalSendingAmount":25000000,"sendingCurrency":"USDB","feesIncluded":0,"totalReceivingAmount":25000000,"receivingCurrency":"USDC",`+
		`"exchangeRate":1,"destination":{"accountId":"ExternalAccount:x","address":"0x1"},"settlement":{"network":"BASE","chainId":8453,`+
		`"contract":"%s","tokenName":"USD Coin","tokenVersion":"2","to":"%s","validBefore":1773493500},"expiresAt":"2026-03-14T12:05:00.000Z"}`,
		id.UUID(), id, of.Platform, of.Account, custodyContract, custodyTo)
}

// custodyTransfers tests that a custody signs for a chain what the owner of a wallet has signed, and nothing else.
func custodyTransfers(t *testing.T, custody ports.Custody, newWallets NewWallets) {
	t.Run("a transfer is signed as its owner has", func(t *testing.T) {
		one, _, _ := newWallets(t)
		session := newCustodySession(t, custody, one, one)
		var id ident.Transaction
		id.SetUUID(uuid.New())
		payload := custodyPayload(one, id)
		var nonces [2][32]byte
		for i := range nonces { // signed again, it is the same transfer
			signed, err := custody.SignTransfer(t.Context(), one, session.sign(t, one, id, payload), wallet.Terms{})
			if err != nil {
				t.Fatal(err)
			}
			contract, _ := ethereum.ParseAddress(custodyContract)
			to, _ := ethereum.ParseAddress(custodyTo)
			authorization, domain, err := signed.Authorization(signed.From)
			if err != nil || domain != (ethereum.Domain{Name: "USD Coin", Version: "2", ChainID: 8453, Contract: contract}) ||
				authorization.To != to || authorization.Value.Int64() != 25_000_000 || authorization.ValidBefore != 1773493500 {
				t.Fatalf("signed %+v for %+v, %v", authorization, domain, err)
			}
			digest := authorization.Digest(domain)
			custodySigned(t, custody, one, signed, digest)
			nonces[i] = signed.Nonce
		}
		if nonces[0] != nonces[1] || nonces[0] != sha256.Sum256([]byte(payload)) {
			t.Fatalf("the nonces are %x", nonces)
		}
	})
	t.Run("a permit and a transaction are signed with one nonce", func(t *testing.T) {
		one, other, _ := newWallets(t)
		session := newCustodySession(t, custody, one, one)
		contract, _ := ethereum.ParseAddress(custodyContract)
		to, _ := ethereum.ParseAddress(custodyTo)
		for _, method := range []wallet.Method{wallet.ByPermit, wallet.ByTransaction} {
			var id ident.Transaction
			id.SetUUID(uuid.New())
			payload := strings.Replace(custodyPayload(one, id), `"validBefore"`, fmt.Sprintf(`"method":"%s","validBefore"`, method), 1)
			for _, asked := range []uint64{7, 8, 0} { // whatever is asked for later, it is the same permit, or the same place in the order
				signed, err := custody.SignTransfer(t.Context(), one, session.sign(t, one, id, payload), custodyTerms(asked))
				if err != nil || signed.Terms.Nonce != 7 {
					t.Fatalf("%s: asked for the nonce %d, signed %+v, %v", method, asked, signed.Terms, err)
				}
				domain := ethereum.Domain{Name: "USD Coin", Version: "2", ChainID: 8453, Contract: contract}
				digest := ethereum.Permit{Owner: signed.From, Spender: to, Value: big.NewInt(25_000_000), Nonce: 7, Deadline: 1773493500}.Digest(domain)
				if method == wallet.ByTransaction {
					digest = ethereum.Transaction{ChainID: 8453, Nonce: 7, GasLimit: 90_000, MaxFee: big.NewInt(20), MaxPriorityFee: big.NewInt(2),
						To: contract, Value: new(big.Int), Data: ethereum.TransferCall(to, big.NewInt(25_000_000))}.Digest()
				}
				custodySigned(t, custody, one, signed, digest)
			}
			edited := session.sign(t, one, id, payload)
			edited.Payload = custodyPayload(one, id) // by another way than the owner has signed
			if signed, err := custody.SignTransfer(t.Context(), one, edited, custodyTerms(7)); err == nil {
				t.Errorf("%s: signed %+v", method, signed)
			}
			if signed, err := custody.SignTransfer(t.Context(), other, session.sign(t, one, id, payload), custodyTerms(7)); err == nil {
				t.Errorf("%s: for another wallet: signed %+v", method, signed)
			}
			late := strings.Replace(payload, "1773493500", "1773489600", 1) // noon of the day of the test, when its time is over
			signed, err := custody.SignTransfer(t.Context(), one, session.sign(t, one, id, late), custodyTerms(8))
			if !errors.Is(err, wallet.ErrTooLate) {
				t.Errorf("%s: after its time: signed %+v, %v", method, signed, err)
			}
		}
	})
	t.Run("nothing is signed that the owner has not", func(t *testing.T) {
		one, other, elsewhere := newWallets(t)
		session, foreign := newCustodySession(t, custody, one, one), newCustodySession(t, custody, other, one)
		var id, another ident.Transaction
		id.SetUUID(uuid.New())
		another.SetUUID(uuid.New())
		payload := custodyPayload(one, id)
		good := session.sign(t, one, id, payload)
		edited := func(old, with string) wallet.Authorization {
			a := good
			if a.Payload = strings.Replace(payload, old, with, 1); a.Payload == payload {
				t.Fatalf("the payload has no %s", old)
			}
			return a
		}
		changed := func(change func(*wallet.Authorization)) wallet.Authorization {
			a := good
			change(&a)
			return a
		}
		for name, a := range map[string]wallet.Authorization{
			"another amount":            edited(`"totalSendingAmount":25000000`, `"totalSendingAmount":26000000`),
			"another recipient":         edited(custodyTo, custodyContract),
			"another contract":          edited(custodyContract, custodyTo),
			"another chain":             edited(`"chainId":8453`, `"chainId":1`),
			"a longer time":             edited(`"validBefore":1773493500`, `"validBefore":1873493500`),
			"another way":               edited(`"validBefore"`, `"method":"TRANSACTION","validBefore"`),
			"by no known way":           session.sign(t, one, id, strings.Replace(payload, `"validBefore"`, `"method":"x","validBefore"`, 1)),
			"another payment":           changed(func(a *wallet.Authorization) { a.Transaction = another }),
			"no signature":              changed(func(a *wallet.Authorization) { a.Signature = "" }),
			"no certificate":            changed(func(a *wallet.Authorization) { a.Certificate = wallet.Certificate{} }),
			"after the session":         changed(func(a *wallet.Authorization) { a.SignedAt = session.ExpiresAt }),
			"a session of another key":  foreign.sign(t, one, id, payload),
			"a payload of other kind":   session.sign(t, one, id, `{"type":"REQUEST","version":1}`),
			"of another wallet":         session.sign(t, one, id, custodyPayload(other, id)),
			"without a chain":           session.sign(t, one, id, strings.Replace(strings.Replace(payload, `"version":2`, `"version":1`, 1), "settlement", "x", 1)),
			"with a second recipient":   session.sign(t, one, id, strings.Replace(payload, `"to":`, `"to":"`+custodyContract+`","to":`, 1)),
			"with a second amount":      session.sign(t, one, id, strings.Replace(payload, `"feesIncluded":0`, `"totalSendingAmount":1,"feesIncluded":0`, 1)),
			"with another spelling":     session.sign(t, one, id, strings.Replace(payload, `"to":`, `"TO":"`+custodyContract+`","to":`, 1)),
			"with a text after it":      session.sign(t, one, id, payload+"{}"),
			"of an amount that is none": session.sign(t, one, id, strings.Replace(payload, `"totalSendingAmount":25000000`, `"totalSendingAmount":-1`, 1)),
		} {
			if signed, err := custody.SignTransfer(t.Context(), one, a, custodyTerms(3)); err == nil || signed.R != [32]byte{} {
				t.Errorf("%s: signed %+v", name, signed)
			}
		}
		for _, w := range []ports.WalletID{other, elsewhere} {
			if signed, err := custody.SignTransfer(t.Context(), w, good, custodyTerms(3)); err == nil {
				t.Errorf("for another wallet: signed %+v", signed)
			}
		}
	})
}

// custodyTerms are terms with a nonce.
func custodyTerms(nonce uint64) wallet.Terms {
	return wallet.Terms{Nonce: nonce, GasLimit: 90_000, MaxFee: big.NewInt(20), MaxPriorityFee: big.NewInt(2)}
}

// custodySigned checks that the key of the address of a wallet has signed a digest.
func custodySigned(t *testing.T, custody ports.Custody, w ports.WalletID, signed wallet.SignedTransfer, digest ethereum.Hash) {
	t.Helper()
	key, _, err := ecdsa.RecoverCompact(append(append([]byte{signed.V}, signed.R[:]...), signed.S[:]...), digest[:])
	if err != nil {
		t.Fatal(err)
	}
	by, err := ethereum.AddressOf([33]byte(key.SerializeCompressed()))
	own, failed := custody.Address(t.Context(), w)
	if err != nil || failed != nil || by != own || signed.From != own {
		t.Fatalf("signed by %x, for %x, of the wallet %x: %v, %v", by, signed.From, own, err, failed)
	}
}
