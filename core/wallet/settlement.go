package wallet

import (
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"math/big"
	"slices"
	"time"

	"causeway/core/ethereum"
	"causeway/core/ident"
	"causeway/core/money"
)

// Method is what the key of a wallet signs for the transfer of a payment. It is part of what the owner of the wallet signs, so that each
// payment can move in one way only.
type Method string

// The methods.
const (
	// ByAuthorization is an authorisation of EIP-3009, which names the payload.
	ByAuthorization Method = ""
	// ByPermit is a permit of EIP-2612 for the recipient, which then transfers the tokens.
	ByPermit Method = "PERMIT"
	// ByTransaction is a transaction of the address of the wallet.
	ByTransaction Method = "TRANSACTION"
)

// Settlement is how a payment of a wallet moves the token of wallets on its chain, as its owner signs it. Texts, because it is part of
// a text that is signed.
type Settlement struct {
	Network  string
	ChainID  uint64
	Contract string
	// TokenName and TokenVersion name the contract in what the key of the wallet signs (EIP-712).
	TokenName    string
	TokenVersion string
	// To is the address that receives: that of the service, which passes the payment on.
	To string
	// Method is what the key of the wallet signs.
	Method Method
	// ValidBefore is until when the chain takes the transfer, in seconds since 1970.
	ValidBefore int64
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

// ErrTooLate is the error of a transfer that is to be signed first after the end of its time.
var ErrTooLate = errors.New("the time in which the transfer can be made is over")

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

// Payment is what the payload of a payment says, which the owner of a wallet signs. Amounts are in minor units.
type Payment struct {
	QuoteID, TransactionID, PlatformID, AccountID string
	TotalSendingAmount                            int64
	SendingCurrency                               string
	FeesIncluded, TotalReceivingAmount            int64
	ReceivingCurrency, ExchangeRate               string
	// Destination is an object of JSON.
	Destination string
	// Settlement is how the payment moves on a chain; nil if it does not. The version of the payload is 2 with one, and otherwise 1.
	Settlement *Settlement
	ExpiresAt  string
}

// The texts of a payload, with the fields in the order that must not change within a version.
const (
	paymentText = `{"type":"PAYMENT","version":%d,"quoteId":"%s","transactionId":"%s","platformId":"%s","accountId":"%s",` +
		`"totalSendingAmount":%d,"sendingCurrency":"%s","feesIncluded":%d,"totalReceivingAmount":%d,"receivingCurrency":"%s","exchangeRate":%s,` +
		`"destination":%s,%s"expiresAt":"%s"}`
	settlementText = `"settlement":{"network":%s,"chainId":%d,"contract":%s,"tokenName":%s,"tokenVersion":%s,"to":%s,%s"validBefore":%d},`
	methodText     = `"method":%s,`
)

// Payload returns the canonical text: JSON with the fields in a fixed order and no spaces.
func (p Payment) Payload() string {
	version, settlement := 1, ""
	if s := p.Settlement; s != nil {
		method := ""
		if s.Method != ByAuthorization {
			method = fmt.Sprintf(methodText, quoteJSON(string(s.Method)))
		}
		version = 2
		settlement = fmt.Sprintf(settlementText, quoteJSON(s.Network), s.ChainID, quoteJSON(s.Contract), quoteJSON(s.TokenName),
			quoteJSON(s.TokenVersion), quoteJSON(s.To), method, s.ValidBefore)
	}
	return fmt.Sprintf(paymentText, version, p.QuoteID, p.TransactionID, p.PlatformID, p.AccountID, p.TotalSendingAmount, p.SendingCurrency,
		p.FeesIncluded, p.TotalReceivingAmount, p.ReceivingCurrency, p.ExchangeRate, p.Destination, settlement, p.ExpiresAt)
}

// ParseChainTransfer returns the transfer that a payload says, or ErrNoSettlement. A payload is refused that somebody could read in
// another way: it must be the canonical text of what it says.
func ParseChainTransfer(payload string) (t ChainTransfer, err error) {
	var p struct {
		Payment
		ExchangeRate json.Number
		Destination  json.RawMessage
	}
	if err := json.Unmarshal([]byte(payload), &p); err != nil {
		return t, fmt.Errorf("%w: %w", ErrNoSettlement, err)
	}
	p.Payment.ExchangeRate, p.Payment.Destination = p.ExchangeRate.String(), string(p.Destination)
	if p.Settlement == nil || !slices.Contains([]Method{ByAuthorization, ByPermit, ByTransaction}, p.Settlement.Method) ||
		p.SendingCurrency != string(money.USDB) || p.TotalSendingAmount <= 0 || p.Payload() != payload {
		return t, ErrNoSettlement
	}
	var failed [3]error
	t.Platform, failed[0] = ident.ParsePlatform(p.PlatformID)
	t.Account, failed[1] = ident.ParseInternalAccount(p.AccountID)
	t.Transaction, failed[2] = ident.ParseTransaction(p.TransactionID)
	if err := errors.Join(failed[:]...); err != nil {
		return t, fmt.Errorf("%w: %w", ErrNoSettlement, err)
	}
	t.Settlement, t.Value, t.Nonce = *p.Settlement, p.TotalSendingAmount, sha256.Sum256([]byte(payload))
	return t, nil
}

// Authorization returns the authorisation that moves the transfer from an address, and the contract that it is for.
func (t ChainTransfer) Authorization(from ethereum.Address) (a ethereum.Authorization, d ethereum.Domain, err error) {
	to, d, err := t.addresses()
	return ethereum.Authorization{From: from, To: to, Value: big.NewInt(t.Value), ValidBefore: uint64(max(t.ValidBefore, 0)),
		Nonce: t.Nonce}, d, err
}

// Terms are what is signed for a transfer and is not part of the payload: which of the permits or transactions of the address it is,
// and what a transaction offers for gas.
type Terms struct {
	Nonce                  uint64
	GasLimit               uint64
	MaxFee, MaxPriorityFee *big.Int // wei per gas
}

// Permit returns the permit for a transfer from an address, and the contract that it is for.
func (t ChainTransfer) Permit(from ethereum.Address, nonce uint64) (p ethereum.Permit, d ethereum.Domain, err error) {
	to, d, err := t.addresses()
	return ethereum.Permit{Owner: from, Spender: to, Value: big.NewInt(t.Value), Nonce: nonce, Deadline: uint64(max(t.ValidBefore, 0))}, d, err
}

// OwnTransaction returns the transaction of the address of the wallet that makes the transfer.
func (t ChainTransfer) OwnTransaction(terms Terms) (ethereum.Transaction, error) {
	to, d, err := t.addresses()
	if terms.MaxFee == nil || terms.MaxPriorityFee == nil {
		return ethereum.Transaction{}, errors.Join(err, errors.New("a transaction offers fees"))
	}
	return ethereum.Transaction{ChainID: t.ChainID, Nonce: terms.Nonce, MaxPriorityFee: terms.MaxPriorityFee, MaxFee: terms.MaxFee,
		GasLimit: terms.GasLimit, To: d.Contract, Value: new(big.Int), Data: ethereum.TransferCall(to, big.NewInt(t.Value))}, err
}

// Digest returns what the key of an address signs for the transfer.
func (t ChainTransfer) Digest(from ethereum.Address, terms Terms) (ethereum.Hash, error) {
	switch t.Method {
	case ByPermit:
		p, d, err := t.Permit(from, terms.Nonce)
		return p.Digest(d), err
	case ByTransaction:
		own, err := t.OwnTransaction(terms)
		if err != nil {
			return ethereum.Hash{}, err
		}
		return own.Digest(), nil
	default:
		a, d, err := t.Authorization(from)
		return a.Digest(d), err
	}
}

// addresses returns the recipient and the contract.
func (t ChainTransfer) addresses() (to ethereum.Address, d ethereum.Domain, err error) {
	var failed [2]error
	d = ethereum.Domain{Name: t.TokenName, Version: t.TokenVersion, ChainID: t.ChainID}
	d.Contract, failed[0] = ethereum.ParseAddress(t.Contract)
	to, failed[1] = ethereum.ParseAddress(t.To)
	return to, d, errors.Join(failed[:]...)
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

// SignedTransfer is a transfer with the signature of the key of the wallet at its address, which the chain takes.
type SignedTransfer struct {
	ChainTransfer
	From ethereum.Address
	// Terms are those that were signed; zero for an authorisation.
	Terms Terms
	// R, S and V are the signature (ECDSA on secp256k1).
	R, S [32]byte
	V    byte
}
