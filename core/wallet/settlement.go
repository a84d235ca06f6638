package wallet

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/big"
	"time"

	"causeway/core/ethereum"
	"causeway/core/ident"
	"causeway/core/money"
)

// Settlement is how a payment of a wallet moves the token of wallets on its chain, as its owner signs it. Texts, because it is part of
// a text that is signed.
type Settlement struct {
	Network  string `json:"network"`
	ChainID  uint64 `json:"chainId"`
	Contract string `json:"contract"`
	// TokenName and TokenVersion name the contract in what the key of the wallet signs (EIP-712).
	TokenName    string `json:"tokenName"`
	TokenVersion string `json:"tokenVersion"`
	// To is the address that receives: that of the service, which passes the payment on.
	To string `json:"to"`
	// ValidBefore is until when the chain takes the transfer, in seconds since 1970.
	ValidBefore int64 `json:"validBefore"`
}

// SettlementTime is for how long after the end of a quote the chain takes the transfer of its payment.
const SettlementTime = time.Hour

// For returns the settlement of a payment whose quote expires at a time.
func (s Settlement) For(expiry time.Time) Settlement {
	s.ValidBefore = expiry.Add(SettlementTime).Unix()
	return s
}

// IsVia reports whether a settlement of a payment uses the same chain, contract and recipient as another one.
func (s Settlement) IsVia(other Settlement) bool {
	s.ValidBefore = other.ValidBefore
	return s == other
}

// ErrNoSettlement is the error of a payload that names no transfer on a chain.
var ErrNoSettlement = errors.New("the payload names no transfer on a chain")

// ChainTransfer is the transfer on a chain that the payload of a payment says.
type ChainTransfer struct {
	Settlement
	Platform    ident.Platform
	Account     ident.InternalAccount
	Transaction ident.Transaction
	Value       int64
	// Nonce is the hash of the payload, so that each payload moves money once.
	Nonce [sha256.Size]byte
}

// chainPayload has the fields of a payload.
type chainPayload struct {
	Type                 string          `json:"type"`
	Version              int             `json:"version"`
	QuoteID              string          `json:"quoteId"`
	TransactionID        string          `json:"transactionId"`
	PlatformID           string          `json:"platformId"`
	AccountID            string          `json:"accountId"`
	TotalSendingAmount   int64           `json:"totalSendingAmount"`
	SendingCurrency      string          `json:"sendingCurrency"`
	FeesIncluded         int64           `json:"feesIncluded"`
	TotalReceivingAmount int64           `json:"totalReceivingAmount"`
	ReceivingCurrency    string          `json:"receivingCurrency"`
	ExchangeRate         json.Number     `json:"exchangeRate"`
	Destination          json.RawMessage `json:"destination"`
	Settlement           json.RawMessage `json:"settlement"`
	ExpiresAt            string          `json:"expiresAt"`
}

// ParseChainTransfer returns the transfer that a payload says, or ErrNoSettlement. A payload is refused that somebody could read in
// another way: with a field that is not known, or twice.
func ParseChainTransfer(payload string) (t ChainTransfer, err error) {
	var p chainPayload
	if err := decodeStrictly([]byte(payload), &p); err != nil {
		return t, fmt.Errorf("%w: %w", ErrNoSettlement, err)
	}
	if p.Type != "PAYMENT" || p.Version != 2 || p.SendingCurrency != string(money.USDB) || p.TotalSendingAmount <= 0 {
		return t, ErrNoSettlement
	}
	if err := decodeStrictly(p.Settlement, &t.Settlement); err != nil {
		return t, fmt.Errorf("%w: %w", ErrNoSettlement, err)
	}
	var failed [3]error
	t.Platform, failed[0] = ident.ParsePlatform(p.PlatformID)
	t.Account, failed[1] = ident.ParseInternalAccount(p.AccountID)
	t.Transaction, failed[2] = ident.ParseTransaction(p.TransactionID)
	if err := errors.Join(failed[:]...); err != nil {
		return t, fmt.Errorf("%w: %w", ErrNoSettlement, err)
	}
	t.Value, t.Nonce = p.TotalSendingAmount, sha256.Sum256([]byte(payload))
	return t, nil
}

// decodeStrictly decodes an object of JSON with known fields, each at most once, in their own spelling, and nothing after it.
func decodeStrictly(data []byte, into any) error {
	decoder := json.NewDecoder(bytes.NewReader(data))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(into); err != nil {
		return err
	}
	if _, err := decoder.Token(); !errors.Is(err, io.EOF) {
		return errors.New("something follows the object")
	}
	again, err := json.Marshal(into)
	if err != nil {
		return err
	}
	var escaped bytes.Buffer // as Marshal does
	json.HTMLEscape(&escaped, data)
	if !bytes.Equal(escaped.Bytes(), again) {
		return errors.New("a field is missing, twice, or not in its place")
	}
	return nil
}

// Authorization returns the authorisation that moves the transfer from an address, and the contract that it is for.
func (t ChainTransfer) Authorization(from ethereum.Address) (a ethereum.Authorization, d ethereum.Domain, err error) {
	var failed [2]error
	d = ethereum.Domain{Name: t.TokenName, Version: t.TokenVersion, ChainID: t.ChainID}
	d.Contract, failed[0] = ethereum.ParseAddress(t.Contract)
	a = ethereum.Authorization{From: from, Value: big.NewInt(t.Value), ValidBefore: uint64(max(t.ValidBefore, 0)), Nonce: t.Nonce}
	a.To, failed[1] = ethereum.ParseAddress(t.To)
	return a, d, errors.Join(failed[:]...)
}

// ChainTransfer returns the transfer that the owner of a wallet has signed, as its key alone proves: it certified the session that
// signed, and the payload is one of this wallet and payment.
func (a Authorization) ChainTransfer(key Key) (ChainTransfer, error) {
	if err := a.Verify(key); err != nil {
		return ChainTransfer{}, err
	}
	t, err := ParseChainTransfer(a.Payload)
	switch {
	case err != nil:
		return t, err
	case t.Platform != a.Platform || t.Account != a.Account || t.Transaction != a.Transaction:
		return t, fmt.Errorf("the payload is of %s, from %s, and not of %s, from %s", t.Transaction, t.Account, a.Transaction, a.Account)
	}
	return t, nil
}

// SignedTransfer is a transfer with the signature of the key of the wallet at its address, which the contract of the token takes.
type SignedTransfer struct {
	ChainTransfer
	From ethereum.Address
	// R, S and V are the signature (ECDSA on secp256k1).
	R, S [32]byte
	V    byte
}
