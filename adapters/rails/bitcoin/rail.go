package bitcoin

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"sync"
	"time"

	"causeway/adapters/rails/bitcoin/btc"
	"causeway/core/account"
	"causeway/core/corridor"
	"causeway/core/fault"
	"causeway/core/ident"
	"causeway/core/money"
	"causeway/core/rail"
	"causeway/core/transaction"
	"causeway/ports"
)

const (
	// dust is below what nodes relay to any kind of address.
	dust = 546
	// waitUnsigned and waitSent are after how long a payment is asked about again, if the feed reports nothing before.
	waitUnsigned = time.Minute
	waitSent     = 10 * time.Minute
)

// Config is what a connection to a wallet needs.
type Config struct {
	Connection rail.Connection
	Store      *Store
	References ports.DepositReferences
	Secrets    ports.Secrets
	Clock      ports.Clock
}

// Rail is the connection to one wallet.
type Rail struct {
	Config
	settings settings
	client   *client

	mu sync.Mutex
	// sent are the transactions that this process has sent.
	sent map[string]bool
	// tooDear are payments that this process makes no transaction for meanwhile.
	tooDear map[ports.RailPaymentKey]tooDear
	// balanceAt is when the balance was last read for the feed.
	balanceAt time.Time
}

var (
	_ ports.ConnectedRail = (*Rail)(nil)
	_ ports.RailFeed      = (*Rail)(nil)
	_ ports.RailBalances  = (*Rail)(nil)

	_ ports.AccountChecker = (*Rail)(nil)
	_ ports.ExclusiveRail  = (*Rail)(nil)
)

// New returns the adapter of a connection. It checks the settings, and calls nothing.
func New(c Config) (*Rail, error) {
	s, err := parseSettings(c.Connection)
	if err != nil {
		return nil, err
	}
	return &Rail{Config: c, settings: s, client: newClient(s, c.Secrets), sent: map[string]bool{},
		tooDear: map[ports.RailPaymentKey]tooDear{}}, nil
}

// Close implements ports.ConnectedRail.
func (r *Rail) Close() error {
	r.client.transport.CloseIdleConnections()
	return nil
}

// Exclusive implements ports.ExclusiveRail: two connections of one wallet would spend the same coins, and those of one key
// would have the same addresses.
func (r *Rail) Exclusive() []string {
	return []string{"the wallet " + r.settings.wallet + " of " + r.settings.url,
		"the deposit key " + r.Connection.Settings[settingDepositXpub]}
}

// depositPath returns the path of the key of a reference: 124 bits of a hash, so that no two references ever have the
// same address, and an address is known without asking anybody.
func depositPath(p ident.Platform, reference string) []uint32 {
	sum := sha256.Sum256([]byte("causeway bitcoin deposit/" + p.UUID().String() + "/" + reference))
	path := make([]uint32, 4)
	for i := range path {
		path[i] = binary.BigEndian.Uint32(sum[4*i:]) &^ (1 << 31)
	}
	return path
}

// depositAddress returns the address of a reference.
func (r *Rail) depositAddress(p ident.Platform, reference string) (string, error) {
	key, err := r.settings.depositXpub.Path(depositPath(p, reference))
	if err != nil {
		return "", err
	}
	return key.Address(), nil
}

// Instructions implements ports.Rail.
func (r *Rail) Instructions(p ident.Platform, reference string, currency money.Currency, network string) ([]account.Instruction, error) {
	if currency != money.BTC || network != "" && network != string(corridor.Bitcoin) {
		return nil, fault.New(fault.InvalidCurrency, "This connection receives BTC on the chain %s only.", corridor.Bitcoin)
	}
	return r.instructions(p, reference, "Send exactly the quoted amount of BTC to this address before the quote expires. It is credited "+
		"after %d confirmations.")
}

// Funding implements ports.Rail.
func (r *Rail) Funding(p ident.Platform, _ string, reference string, currency money.Currency) ([]account.Instruction, error) {
	if currency != money.BTC {
		return nil, nil
	}
	return r.instructions(p, reference, "Send any amount of BTC to this address at any time. It is credited after %d confirmations.")
}

func (r *Rail) instructions(p ident.Platform, reference, notes string) ([]account.Instruction, error) {
	address, err := r.depositAddress(p, reference)
	if err != nil {
		return nil, err
	}
	return []account.Instruction{{
		Notes: fmt.Sprintf(notes, r.settings.confirmations),
		Info:  map[string]any{"accountType": string(account.BitcoinAddress), "assetType": string(money.BTC), "address": address},
	}}, nil
}

// CheckAccount implements ports.AccountChecker: addresses of another network are refused before they are paid to.
func (r *Rail) CheckAccount(a account.External) error {
	if a.Type != account.BitcoinAddress {
		return nil
	}
	if _, err := r.settings.network.Script(a.Identifier()); err != nil {
		return fault.Invalid(fault.Field{Field: "accountInfo.address", Message: "must be an address of the Bitcoin network " +
			r.settings.network.Name + ", which payments are sent on"})
	}
	return nil
}

// Send implements ports.Rail.
func (r *Rail) Send(ctx context.Context, payouts []ports.Payout) []ports.Outcome {
	return r.pay(ctx, payoutRequests(payouts), true)
}

// Status implements ports.Rail.
func (r *Rail) Status(ctx context.Context, payouts []ports.Payout) []ports.Outcome {
	return r.pay(ctx, payoutRequests(payouts), false)
}

// Refund implements ports.Rail. A transaction does not say to which address its money can be returned: that of a
// refund is known only if somebody has named it.
func (r *Rail) Refund(ctx context.Context, refunds []ports.Refund) []ports.Outcome {
	requests := make([]request, len(refunds))
	for i, refund := range refunds {
		requests[i] = request{key: ports.RailPaymentKey{Platform: refund.Platform, ID: refund.ID, Kind: rail.Refund}, amount: refund.Amount,
			internal: refund.Internal}
		if payer := refund.Original.Payer; payer != nil {
			requests[i].address = payer.Identifier()
		} else if !refund.Internal {
			requests[i].problem = "The address of the payer is not known."
		}
	}
	return r.pay(ctx, requests, true)
}

// Collect implements ports.Rail. Nothing can be collected from an address.
func (r *Rail) Collect(_ context.Context, collections []ports.Collection) []ports.Outcome {
	outcomes := make([]ports.Outcome, len(collections))
	for i := range outcomes {
		outcomes[i] = ports.Outcome{Verdict: ports.Refused, Reason: transaction.QuoteExecutionFailed, Text: "Bitcoin cannot be collected from " +
			"an address."}
	}
	return outcomes
}

// CollectionStatus implements ports.Rail.
func (r *Rail) CollectionStatus(ctx context.Context, collections []ports.Collection) []ports.Outcome {
	return r.Collect(ctx, collections)
}

// request is a payment that somebody asks for.
type request struct {
	key      ports.RailPaymentKey
	address  string
	amount   money.Amount
	internal bool   // nothing is sent
	problem  string // why it cannot be done, if that is known
}

func payoutRequests(payouts []ports.Payout) []request {
	requests := make([]request, len(payouts))
	for i, p := range payouts {
		requests[i] = request{key: ports.RailPaymentKey{Platform: p.Transaction.Platform, ID: p.Transaction.ID.UUID(), Kind: rail.Payout},
			address: p.Account.Identifier(), amount: p.Transaction.Pricing.Received}
	}
	return requests
}

// check returns why a payment can never be made, or nothing.
func (r *Rail) check(q request) string {
	if q.problem != "" || q.internal {
		return q.problem
	}
	if q.amount.Currency != money.BTC {
		return fmt.Sprintf("This wallet pays BTC and not %s.", q.amount.Currency)
	}
	if q.amount.Minor < dust {
		return fmt.Sprintf("Nodes do not relay payments below %d satoshis.", dust)
	}
	if _, err := r.settings.network.Script(q.address); err != nil {
		return fmt.Sprintf("The address %v.", err)
	}
	return ""
}

// pay returns the outcomes of payments; it makes those that are new if it may.
func (r *Rail) pay(ctx context.Context, requests []request, start bool) []ports.Outcome {
	outcomes := make([]ports.Outcome, len(requests))
	var wanted []Payment
	var keys []ports.RailPaymentKey
	now := r.Clock.Now()
	for i, q := range requests {
		switch problem := r.check(q); {
		case problem != "":
			outcomes[i] = ports.Outcome{Verdict: ports.Refused, Reason: transaction.CounterpartyPostFailed, Text: problem}
		case q.internal:
			outcomes[i] = ports.Outcome{Verdict: ports.Done}
		default:
			keys = append(keys, q.key)
			wanted = append(wanted, Payment{RailPaymentKey: q.key, Address: q.address, Satoshis: q.amount.Minor, CreatedAt: now})
		}
	}
	if len(wanted) == 0 {
		return outcomes
	}
	kept, reason, err := r.keep(ctx, wanted, keys, start)
	for i, q := range requests {
		if outcomes[i].Verdict == "" {
			outcomes[i] = r.outcome(q, kept[q.key], reason, err)
		}
	}
	return outcomes
}

// keep keeps payments, makes those that are new if it may, and returns what became of them, with the reason for which
// some are not signed.
func (r *Rail) keep(ctx context.Context, wanted []Payment, keys []ports.RailPaymentKey,
	start bool) (map[ports.RailPaymentKey]Payment, string, error) {
	reason := ""
	if start {
		kept, err := r.Store.AddPayments(ctx, r.Connection.Name, wanted)
		if err != nil {
			return nil, "", err
		}
		for _, p := range kept {
			if p.Batch == 0 {
				reason = r.tryAdvance(ctx)
				break
			}
		}
	}
	payments, err := r.Store.Payments(ctx, r.Connection.Name, keys)
	found := map[ports.RailPaymentKey]Payment{}
	for _, p := range payments {
		found[p.RailPaymentKey] = p
	}
	return found, reason, err
}

func (r *Rail) outcome(q request, p Payment, reason string, err error) ports.Outcome {
	now := r.Clock.Now()
	switch {
	case err != nil:
		return ports.Outcome{Verdict: ports.Unknown, Text: err.Error()}
	case p.Satoshis == 0:
		return ports.Outcome{Verdict: ports.Unknown, Text: "The wallet has no such payment."}
	case p.Address != q.address || p.Satoshis != q.amount.Minor:
		return ports.Outcome{Verdict: ports.Unknown, Text: "The wallet has another payment with this id."}
	case p.Status == Confirmed, p.Status == Final:
		return ports.Outcome{Verdict: ports.Done, Accepted: true, PartnerID: p.TxID, TransactionHash: p.TxID}
	case p.Batch != 0:
		return ports.Outcome{Verdict: ports.Waiting, Accepted: true, Text: fmt.Sprintf("sent, waits for %d confirmations",
			r.settings.confirmations), RetryAt: now.Add(waitSent)}
	default:
		return ports.Outcome{Verdict: ports.Waiting, Text: cmp.Or(r.whyTooDear(q.key), reason), RetryAt: now.Add(waitUnsigned)}
	}
}

// scriptOf returns the script of an address that was checked before.
func (r *Rail) scriptOf(address string) []byte {
	script, err := r.settings.network.Script(address)
	if err != nil {
		return nil
	}
	return script
}

// wasSent reports whether this process has sent a transaction.
func (r *Rail) wasSent(txid string) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.sent[txid]
}

// maxSent bounds what is remembered of transactions that were sent. One that is forgotten is sent again.
const maxSent = 10_000

func (r *Rail) markSent(txid string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.sent) >= maxSent {
		clear(r.sent)
	}
	r.sent[txid] = true
}

// parse reads a transaction of the wallet.
func parse(raw []byte) (btc.Transaction, error) {
	t, err := btc.ParseTransaction(raw)
	if err != nil {
		return t, fmt.Errorf("what the wallet has signed %w", err)
	}
	return t, nil
}
