package evm_test

import (
	"context"
	ecdsap256 "crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"math/big"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"

	"causeway/adapters/custody/local"
	"causeway/adapters/rails/evm"
	"causeway/adapters/rails/evm/eth"
	"causeway/core/account"
	"causeway/core/ethereum"
	"causeway/core/ident"
	"causeway/core/money"
	"causeway/core/wallet"
	"causeway/ports"
)

// walletEnv is an env whose connection is that of embedded wallets.
type walletEnv struct {
	*env
	custody  *local.Custody
	keys     *keyStore
	evidence sync.Map // of payments
	// addresses are those of wallets, which follow slowly from their keys.
	addresses sync.Map
	// alter changes what the key of a wallet has signed; nil for nothing.
	alter func(*wallet.SignedTransfer)
}

// newWalletEnv returns an env whose token takes authorisations.
func newWalletEnv(t testing.TB) *walletEnv { return newWalletEnvIn(t, "TestAuthorizedToken") }

func newWalletEnvIn(t testing.TB, contract string) *walletEnv {
	e := &walletEnv{env: newEnv(t), keys: &keyStore{keys: map[ports.WalletID]storedKey{}}}
	e.custody = local.New(e.keys)
	e.currency, e.usdc = money.USDB, e.chain.DeployContract(contract)
	e.wallets = e
	return e
}

// Address implements ports.TransferKeys.
func (e *walletEnv) Address(ctx context.Context, w ports.WalletID) (ethereum.Address, error) {
	if known, ok := e.addresses.Load(w); ok {
		return known.(ethereum.Address), nil
	}
	a, err := e.custody.Address(ctx, w)
	if err == nil {
		e.addresses.Store(w, a)
	}
	return a, err
}

// SignTransfer implements ports.TransferKeys.
func (e *walletEnv) SignTransfer(ctx context.Context, payment ports.TransactionKey, terms wallet.Terms) (wallet.SignedTransfer, error) {
	stored, found := e.evidence.Load(payment)
	if !found {
		return wallet.SignedTransfer{}, errors.New("nobody has signed it")
	}
	a := stored.(wallet.Authorization)
	signed, err := e.custody.SignTransfer(ctx, ports.WalletID{Platform: payment.Platform, Account: a.Account}, a, terms)
	if e.alter != nil {
		e.alter(&signed)
	}
	return signed, err
}

// keyStore keeps keys of wallets in memory.
type keyStore struct {
	mu     sync.Mutex
	keys   map[ports.WalletID]storedKey
	nonces sync.Map
}

func (k *keyStore) FixTransferNonce(_ context.Context, w ports.WalletID, payload [32]byte, nonce uint64, _ time.Time) (uint64, error) {
	fixed, _ := k.nonces.LoadOrStore(fmt.Sprintf("%v %x", w, payload), nonce)
	return fixed.(uint64), nil
}

type storedKey struct {
	key     wallet.Key
	entropy []byte
}

func (k *keyStore) WalletKey(_ context.Context, w ports.WalletID) (wallet.Key, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.keys[w].key, nil
}

func (k *keyStore) WalletEntropy(_ context.Context, w ports.WalletID) ([]byte, wallet.Key, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	return slices.Clone(k.keys[w].entropy), k.keys[w].key, nil
}

func (k *keyStore) AddWalletKey(_ context.Context, w ports.WalletID, key wallet.Key, entropy []byte) (wallet.Key, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if _, exists := k.keys[w]; !exists {
		k.keys[w] = storedKey{key, slices.Clone(entropy)}
	}
	return k.keys[w].key, nil
}

// owner is a wallet with an open session.
type owner struct {
	*walletEnv
	account account.Internal
	id      ports.WalletID
	address string
	session wallet.Session
	private *ecdsap256.PrivateKey
}

func (e *walletEnv) newOwner(r *recorded) *owner {
	e.t.Helper()
	o := &owner{walletEnv: e, account: e.newAccount(money.USDB)}
	o.id = ports.WalletID{Platform: e.platform, Account: o.account.ID}
	address, err := e.custody.Address(e.t.Context(), o.id)
	if err != nil {
		e.t.Fatal(err)
	}
	o.address = eth.FormatAddress(address)
	if got := e.poll(r).Addresses; len(got) != 1 || got[0].Platform != e.platform || got[0].Reference != o.account.Reference ||
		got[0].Instruction.Info["address"] != o.address || got[0].Instruction.Info["assetType"] != "USDC" {
		e.t.Fatalf("the address %s is reported as %+v", o.address, got)
	}
	if o.private, err = ecdsap256.GenerateKey(elliptic.P256(), rand.Reader); err != nil {
		e.t.Fatal(err)
	}
	o.session = wallet.Session{ID: ident.NewSession(e.ids.New, noon), Platform: e.platform, Account: o.account.ID, Type: wallet.EmailOTP,
		Credential: ident.NewAuthMethod(e.ids.New, noon), CreatedAt: noon, ExpiresAt: noon.Add(wallet.SessionLifetime),
		PublicKey: wallet.SessionKey(elliptic.MarshalCompressed(elliptic.P256(), o.private.X, o.private.Y))}
	if o.session.Certificate, err = e.custody.Sign(e.t.Context(), o.id, o.session.Statement()); err != nil {
		e.t.Fatal(err)
	}
	return o
}

// holding opens the rail, and a wallet that an amount was paid into.
func (e *walletEnv) holding(amount int64) (*recorded, *owner) {
	e.t.Helper()
	r := e.rail()
	o := e.newOwner(r)
	o.deposit(r, amount)
	return r, o
}

// pays returns a payment that the owner has signed, for some seconds from now on.
func (o *owner) pays(r *recorded, amount int64, seconds int64) ports.WalletTransfer {
	o.t.Helper()
	via, err := r.Settlement(o.t.Context())
	if err != nil {
		o.t.Fatal(err)
	}
	via.ValidBefore = o.now() + seconds
	id := ident.NewTransaction(o.ids.New, noon)
	return o.transfer(id, amount, o.payload(id, amount, *via))
}

func (e *walletEnv) now() int64 {
	latest, _ := e.chain.Call("eth_getBlockByNumber", "latest", false).(map[string]any)
	text, _ := latest["timestamp"].(string)
	var n int64
	if _, err := fmt.Sscanf(text, "0x%x", &n); err != nil {
		e.t.Fatal(err)
	}
	return n
}

func (o *owner) payload(id ident.Transaction, amount int64, via wallet.Settlement) string {
	return wallet.Payment{QuoteID: "Quote:" + id.UUID().String(), TransactionID: id.String(), PlatformID: o.platform.String(),
		AccountID: o.account.ID.String(), TotalSendingAmount: amount, SendingCurrency: "USDB", TotalReceivingAmount: amount,
		ReceivingCurrency: "USDC", ExchangeRate: "1", Destination: `{"accountId":"x"}`, Settlement: &via,
		ExpiresAt: "2026-03-14T12:05:00.000Z"}.Payload()
}

// sign returns the evidence of a payload.
func (o *owner) sign(id ident.Transaction, payload string) wallet.Authorization {
	o.t.Helper()
	digest := sha256.Sum256([]byte(payload))
	der, err := ecdsap256.SignASN1(rand.Reader, o.private, digest[:])
	if err != nil {
		o.t.Fatal(err)
	}
	return wallet.NewAuthorization(o.platform, id, o.account.ID, payload, base64.StdEncoding.EncodeToString(der), o.session,
		noon.Add(time.Minute))
}

func (o *owner) transfer(id ident.Transaction, amount int64, payload string) ports.WalletTransfer {
	o.evidence.Store(ports.TransactionKey{Platform: o.platform, ID: id}, o.sign(id, payload))
	return ports.WalletTransfer{Wallet: o.id, Transfer: wallet.Transfer{Transaction: id, Account: o.account.ID,
		Amount: money.Amount{Minor: amount, Currency: money.USDB}, Payload: payload}}
}

func (e *walletEnv) debit(r *recorded, t ports.WalletTransfer) ports.Outcome {
	return r.Debit(e.t.Context(), []ports.WalletTransfer{t})[0]
}

// walletContracts take an authorisation, a permit, and nothing but transactions of the wallet.
var walletContracts = []string{"TestAuthorizedToken", "TestPermitToken", "TestTether"}

// settle calls about payments until all are done or refused, with blocks in between.
func (e *walletEnv) settle(r *recorded, payments ...ports.WalletTransfer) []ports.Outcome {
	e.t.Helper()
	var outcomes []ports.Outcome
	for range 20 {
		outcomes = r.Debit(e.t.Context(), payments)
		if !slices.ContainsFunc(outcomes, func(o ports.Outcome) bool { return o.Verdict != ports.Done && o.Verdict != ports.Refused }) {
			break
		}
		e.mine(r, 3)
	}
	return outcomes
}

// wantDone settles a payment that is made.
func (e *walletEnv) wantDone(r *recorded, pays ports.WalletTransfer) {
	e.t.Helper()
	if got := e.settle(r, pays); got[0].Verdict != ports.Done {
		e.t.Fatalf("%+v", got)
	}
}

// wantExpired checks that a payment of an hour is refused at the end of its time.
func (e *walletEnv) wantExpired(r *recorded, pays ports.WalletTransfer) {
	e.t.Helper()
	e.chain.Call("evm_increaseTime", 4000)
	e.mine(r, 4)
	if got := e.debit(r, pays); got.Verdict != ports.Refused {
		e.t.Errorf("%+v", got)
	}
}

// signAndDrop calls about a payment until its transaction is signed, which the node then forgets.
func (e *walletEnv) signAndDrop(r *recorded, pays ports.WalletTransfer) {
	e.t.Helper()
	e.debit(r, pays)
	e.chain.Mine(1)
	e.debit(r, pays)
	signed := e.transactions(evm.WalletDebit, pays)
	if len(signed) != 1 {
		e.t.Fatal("the transaction is not signed")
	}
	e.chain.Call("hardhat_dropTransaction", eth.FormatHash(signed[0].Attempts[0].Hash))
}

// pause stops a connection or a rail, or lets it go on.
func (e *walletEnv) pause(name string, paused bool) {
	e.t.Helper()
	held := ports.RailPause{Name: name, Paused: paused, By: "ana", Note: "Test", At: noon}
	if err := e.db.SaveRailPause(e.t.Context(), held); err != nil {
		e.t.Fatal(err)
	}
}

// transactions returns what is stored of a payment for a purpose.
func (e *walletEnv) transactions(purpose evm.Purpose, pays ports.WalletTransfer) []evm.Transaction {
	e.t.Helper()
	found, err := e.store().Transactions(e.t.Context(), "base-main", purpose, []uuid.UUID{pays.Transaction.UUID()})
	if err != nil {
		e.t.Fatal(err)
	}
	return found
}

// asOwner sends a call of a contract from the address of a wallet, as its owner can after an export.
func (o *owner) asOwner(to string, data []byte) {
	o.t.Helper()
	o.chain.Call("hardhat_impersonateAccount", o.address)
	o.chain.Call("hardhat_setBalance", o.address, "0xde0b6b3a7640000")
	o.chain.Call("eth_sendTransaction", map[string]any{"from": o.address, "to": to, "gas": "0x40000", "maxFeePerGas": "0x2540be400",
		"maxPriorityFeePerGas": "0x2540be400", "data": "0x" + hex.EncodeToString(data)})
}

// movesTokens sends tokens to an address that it returns, as the owner can after an export.
func (o *owner) movesTokens(amount int64) string {
	o.t.Helper()
	payee := o.payee()
	to, err := eth.ParseAddress(payee)
	if err != nil {
		o.t.Fatal(err)
	}
	o.asOwner(o.usdc.Address, eth.TransferCall(to, big.NewInt(amount)))
	return payee
}

// deposit pays tokens into the wallet, which are reported.
func (o *owner) deposit(r *recorded, amount int64) {
	o.t.Helper()
	o.usdc.Mint(o.address, amount)
	o.chain.Mine(3)
	if got := o.poll(r).Receipts; len(got) != 1 || got[0].Reference != o.account.Reference || got[0].Platform != o.platform ||
		got[0].Amount != (money.Amount{Minor: amount, Currency: money.USDB}) {
		o.t.Fatalf("%+v", got)
	}
}

func (e *walletEnv) wantBalances(wantWallet, wantHot int64, o *owner) {
	e.t.Helper()
	if got, hot := e.usdc.Balance(o.address), e.usdc.Balance(e.env.wallet()); got != wantWallet || hot != wantHot {
		e.t.Errorf("the embedded wallet has %d, want %d; that of the connection %d, want %d", got, wantWallet, hot, wantHot)
	}
}

// wantTotal checks what the connection reports for the daily proof.
func (e *walletEnv) wantTotal(r *recorded, want int64) {
	e.t.Helper()
	balances, err := r.Balances(e.t.Context())
	if err != nil {
		e.t.Fatal(err)
	}
	for _, b := range balances {
		if b.Amount.Currency == money.USDB && b.Amount.Minor != want {
			e.t.Errorf("the addresses hold %s, want %d", b.Amount, want)
		}
	}
}
