package evm

import (
	"context"
	"errors"
	"fmt"
	"math/big"
	"net/http"
	"slices"
	"sync/atomic"
	"time"

	"github.com/sirupsen/logrus"

	"causeway/adapters/rails/evm/eth"
	"causeway/core/account"
	"causeway/core/corridor"
	"causeway/core/fault"
	"causeway/core/ident"
	"causeway/core/money"
	"causeway/core/rail"
	"causeway/ports"
)

// Config is what a connection needs.
type Config struct {
	Connection rail.Connection
	Store      *Store
	Keys       ports.ChainKeys
	Secrets    ports.Secrets
	// Wallets sign for embedded wallets.
	Wallets ports.TransferKeys
	Clock   ports.Clock
	Log     logrus.FieldLogger
}

// Rail is one wallet on one chain.
type Rail struct {
	settings
	connection rail.Connection
	store      *Store
	keys       ports.ChainKeys
	wallets    ports.TransferKeys
	clock      ports.Clock
	log        logrus.FieldLogger
	nodes      *nodes
	// accountKey is the key from which every address is derived, at accountPath.
	accountKey  ports.ChainAccountKey
	accountPath []uint32
	wallet      eth.Address
	// contractsChecked: the contracts have the decimals of their currencies.
	contractsChecked atomic.Bool
	// walletToken is the token of embedded wallets; nil until its contract was checked.
	walletToken atomic.Pointer[walletToken]
	// busy is held by the process while it signs, so that its own calls do not compete for a nonce.
	busy chan struct{}
	// lastRange is how many blocks were read at once.
	lastRange atomic.Uint64
	// searches are those for the transactions that have used nonces of wallets.
	searches searches
}

var (
	_ ports.ConnectedRail = (*Rail)(nil)
	_ ports.RailFeed      = (*Rail)(nil)
	_ ports.RailBalances  = (*Rail)(nil)
	_ ports.ExclusiveRail = (*Rail)(nil)
	_ ports.UnsettledRail = (*Rail)(nil)
)

const (
	purposeBIP44  = 44
	coinTypeEther = 60
)

// New opens a connection. It reads the public key of the wallet and what is stored of the connection, and calls no node.
func New(ctx context.Context, c Config) (*Rail, error) {
	parsed, err := parseSettings(ctx, c.Connection, c.Secrets)
	if err != nil {
		return nil, err
	}
	transport := http.DefaultTransport.(*http.Transport).Clone()
	transport.MaxConnsPerHost = 8
	client := &http.Client{Transport: transport, Timeout: callTimeout,
		CheckRedirect: func(*http.Request, []*http.Request) error { return errors.New("the node redirects; correct its URL") }}
	r := &Rail{settings: parsed, connection: c.Connection, store: c.Store, keys: c.Keys, wallets: c.Wallets, clock: c.Clock,
		log:   c.Log.WithField("connection", c.Connection.Name),
		nodes: newNodes(parsed.urls, parsed.chain.id, client, c.Clock.Now), busy: make(chan struct{}, 1)}
	r.lastRange.Store(min(parsed.maxRange, firstRange))
	r.searches.lastRange.Store(min(parsed.maxRange, firstRange))
	r.accountPath = []uint32{purposeBIP44 | ports.ChainHardened, coinTypeEther | ports.ChainHardened, parsed.account | ports.ChainHardened}
	if r.accountKey, err = c.Keys.AccountKey(ctx, r.accountPath); err != nil {
		return nil, fmt.Errorf("connection %s: seed: %w", c.Connection.Name, err)
	}
	if r.wallet, err = r.addressAt(eth.HotPath()); err != nil {
		return nil, fmt.Errorf("connection %s: seed: %w", c.Connection.Name, err)
	}
	state, opened, err := c.Store.ChainOf(ctx, c.Connection.Name)
	if err == nil && opened {
		err = r.checkWallet(state) // before an address of another seed is shown to a payer
	}
	if err != nil {
		return nil, err
	}
	return r, nil
}

// Close closes idle connections.
func (r *Rail) Close() error {
	r.nodes.http.CloseIdleConnections()
	return nil
}

// Exclusive implements ports.ExclusiveRail: two connections of one wallet would sign with the same nonces, and embedded wallets hold the
// token of one connection.
func (r *Rail) Exclusive() []string {
	exclusive := []string{fmt.Sprintf("the wallet %s on chain %d", eth.FormatAddress(r.wallet), r.chain.id)}
	if r.asset != "" {
		exclusive = append(exclusive, "the embedded wallets")
	}
	return exclusive
}

// Unsettled implements ports.UnsettledRail: a transaction that is in no final block.
func (r *Rail) Unsettled(ctx context.Context) (string, error) {
	pending, err := r.pending(ctx, eth.Address{}, 0, true)
	if err != nil || len(pending) == 0 {
		return "", err
	}
	sent := pending[0].Attempts
	return fmt.Sprintf("the transaction %s (%s), which is in no final block", eth.FormatHash(sent[len(sent)-1].Hash), pending[0].Purpose), nil
}

// addressAt returns the address at a path below the account.
func (r *Rail) addressAt(path []uint32) (eth.Address, error) {
	key, err := eth.Derive(r.accountKey, path...)
	if err != nil {
		return eth.Address{}, err
	}
	return eth.AddressOf(key.PublicKey)
}

// keyPath returns the whole path of a key of the account.
func (r *Rail) keyPath(path []uint32) []uint32 { return append(slices.Clone(r.accountPath), path...) }

// depositAddress returns the address for payments with a reference.
func (r *Rail) depositAddress(p ident.Platform, reference string) (eth.Address, error) {
	return r.addressAt(eth.DepositPath(p.UUID(), reference))
}

// Instructions returns the address for a quote.
func (r *Rail) Instructions(p ident.Platform, reference string, currency money.Currency, network string) ([]account.Instruction, error) {
	if _, ok := r.tokens[currency]; !ok || network != "" && corridor.RailNamed(network) != r.rail {
		return nil, fault.New(fault.InvalidCurrency, "%s is not received on %s.", currency, r.rail.PublicName())
	}
	return r.instruction(p, reference, currency, "Send exactly the quoted amount of %s on %s to this address before the quote expires.")
}

// Funding returns the address of an internal account; none for a currency that is not on the chain.
func (r *Rail) Funding(p ident.Platform, _, reference string, currency money.Currency) ([]account.Instruction, error) {
	if _, ok := r.tokens[currency]; !ok {
		return nil, nil
	}
	return r.instruction(p, reference, currency, "Send any amount of %s on %s to this address at any time.")
}

func (r *Rail) instruction(p ident.Platform, reference string, currency money.Currency, notes string) ([]account.Instruction, error) {
	address, err := r.depositAddress(p, reference)
	if err != nil {
		return nil, err
	}
	return []account.Instruction{{
		Notes: fmt.Sprintf(notes, currency, r.rail.PublicName()),
		Info:  r.instructionInfo(address, currency),
	}}, nil
}

// instructionInfo returns where a token is to be sent, by the name that payers know.
func (r *Rail) instructionInfo(address eth.Address, currency money.Currency) map[string]any {
	if currency == money.USDB {
		currency = r.asset
	}
	return map[string]any{"accountType": string(r.chain.account), "assetType": string(currency), "address": eth.FormatAddress(address)}
}

// payerAccount returns the account of a payer.
func (r *Rail) payerAccount(address eth.Address, currency money.Currency) *account.External {
	return &account.External{Type: r.chain.account, Currency: currency, Fields: map[string]string{"address": eth.FormatAddress(address)},
		Rails: []corridor.Rail{r.rail}}
}

// head is the latest block, and the latest one that is taken as final.
type head struct {
	latest block
	final  uint64 // a number
	any    bool   // there is a final block
	read   bool   // the events of all final blocks were read
}

// head returns the present head.
func (r *Rail) head(ctx context.Context) (h head, err error) {
	var latest, final *block
	requests := []*request{{Method: "eth_getBlockByNumber", Params: []any{"latest", false}, Result: &latest}}
	if r.finalized {
		requests = append(requests, &request{Method: "eth_getBlockByNumber", Params: []any{"finalized", false}, Result: &final})
	}
	if err := r.nodes.call(ctx, requests...); err != nil {
		return h, err
	}
	if latest == nil {
		return h, errors.New("the node has no latest block")
	}
	h.latest = *latest
	switch {
	case r.finalized && final != nil:
		h.final, h.any = min(uint64(final.Number), uint64(latest.Number)), true
	case !r.finalized && uint64(latest.Number)+1 >= r.confirmations:
		h.final, h.any = uint64(latest.Number)+1-r.confirmations, true
	}
	return h, nil
}

// isFinal reports whether a block has enough confirmations.
func (h head) isFinal(number uint64) bool { return h.any && number <= h.final }

// blockAt returns the header of a block, or nil if the node does not know it.
func (r *Rail) blocksAt(ctx context.Context, numbers []uint64) (map[uint64]*block, error) {
	return blocksFrom(numbers, func(requests []*request) error { return r.nodes.call(ctx, requests...) })
}

func blocksFrom(numbers []uint64, call func([]*request) error) (map[uint64]*block, error) {
	found := make([]*block, len(numbers))
	requests := make([]*request, len(numbers))
	for i, n := range numbers {
		requests[i] = &request{Method: "eth_getBlockByNumber", Params: []any{quantity(n), false}, Result: &found[i]}
	}
	if err := call(requests); err != nil {
		return nil, err
	}
	byNumber := make(map[uint64]*block, len(numbers))
	for i, b := range found {
		if b != nil && uint64(b.Number) != numbers[i] {
			return nil, errors.New("the node returned another block than it was asked for")
		}
		byNumber[numbers[i]] = b
	}
	return byNumber, nil
}

// callContract returns the request for a call of a contract at a block ("latest", or the number of one).
func callContract(contract eth.Address, data []byte, at string, result *hexBytes) *request {
	return &request{Method: "eth_call", Result: result,
		Params: []any{map[string]any{"to": eth.FormatAddress(contract), "data": fmt.Sprintf("0x%x", data)}, at}}
}

// checkContracts checks once that the contracts have the decimals of their currencies: an amount of another unit would be
// wrong by powers of ten.
func (r *Rail) checkContracts(ctx context.Context) error {
	if r.contractsChecked.Load() {
		return nil
	}
	for currency, contract := range r.tokens {
		var reply hexBytes
		if err := r.nodes.call(ctx, callContract(contract, eth.DecimalsCall(), "latest", &reply)); err != nil {
			return fmt.Errorf("decimals of the contract of %s: %w", currency, err)
		}
		decimals, err := eth.Uint(reply)
		if err != nil {
			return fmt.Errorf("%s at %s: %w", currency, eth.FormatAddress(contract), err)
		}
		if decimals.Cmp(big.NewInt(int64(currency.Decimals()))) != 0 {
			return fmt.Errorf("the contract %s has %s decimals, but %s has %d; correct %s_contract", eth.FormatAddress(contract), decimals, currency,
				currency.Decimals(), currency)
		}
	}
	if r.asset != "" {
		if err := r.checkWalletToken(ctx, r.tokens[money.USDB]); err != nil {
			return err
		}
	}
	r.contractsChecked.Store(true)
	return nil
}

// retryDelay is when to ask again about a payment that waits: some blocks later.
func (r *Rail) retryDelay() time.Duration { return max(4*r.chain.blockTime, 10*time.Second) }
