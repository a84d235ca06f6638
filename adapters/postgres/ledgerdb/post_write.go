package ledgerdb

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/jackc/pgx/v5/pgconn"

	"causeway/core/ident"
	"causeway/ledger"
)

// writeBatch posts the whole batch or, when it is refused, nothing: one round trip, once
// the accounts are known.
func (b *Store) writeBatch(ctx context.Context, q Querier, now time.Time, postings []ledger.Posting) (refusal, error) {
	strains, err := ledger.BalanceDeltas(postings)
	if err != nil {
		return refusal{}, err
	}
	numbers, err := b.accountsFor(ctx, q, postings, strains)
	if err != nil {
		return refusal{}, err
	}
	refused, err := b.postBatch(ctx, q, now, newPostColumns(postings, strains, numbers), strains, postings)
	if err != nil {
		return refusal{}, fmt.Errorf("write postings: %w", translateError(err))
	}
	return refused, nil
}

// accountsFor finds the numbers of all accounts that a batch touches, and makes those
// that are new: guarded ones first, and the others when the balances are held already.
func (b *Store) accountsFor(ctx context.Context, q Querier, postings []ledger.Posting, strains []ledger.BalanceDelta) (accountIDs, error) {
	var all, guarded []ledger.Account
	for _, p := range postings {
		for _, e := range p.Entries {
			all = append(all, ledger.Account{Platform: p.Platform, Path: e.Debit, Currency: e.Currency},
				ledger.Account{Platform: p.Platform, Path: e.Credit, Currency: e.Currency})
		}
	}
	found, missing := b.accounts.lookup(all)
	if len(missing) == 0 {
		return found, nil
	}
	for _, s := range strains { // in account order
		guarded = append(guarded, s.Account)
	}
	if _, err := b.Balances(ctx, q, guarded, Lock); err != nil {
		return nil, err
	}
	return b.accountIDsOf(ctx, q, all, true)
}

// The function takes the locks, looks and writes; which index each of its statements
// rides on is said there.
const callLedgerPost = `SELECT duplicates, mismatched, short_accounts, short_balances, late_postings, earliest_allowed FROM ledger_post(
$1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19, $20, $21, $22, $23)`

func (b *Store) postBatch(ctx context.Context, q Querier, now time.Time, r postColumns, strains []ledger.BalanceDelta, postings []ledger.Posting) (refused refusal, err error) {
	if err := prepare(ctx, q, callLedgerPost); err != nil {
		return refusal{}, err
	}
	var known, other, short, late []int32
	var balances []int64
	var moves []time.Time
	row := q.QueryRow(ctx, callLedgerPost, now.UTC().Truncate(time.Microsecond),
		r.platform, r.count,
		r.id, r.postingPlatform, r.nth, r.kind, r.transaction, r.effective, r.memo, r.reverses, r.digest,
		r.entryPosting, r.n, r.debit, r.credit, r.currency, r.amount,
		r.balancePlatform, r.balanceAccount, r.sum, r.lowest, r.highest)
	if err := row.Scan(&known, &other, &short, &balances, &late, &moves); err != nil {
		return refusal{}, err
	}
	for i, place := range late {
		if refused.late == nil {
			refused.late = make(map[postingKey]time.Time, len(late))
		}
		refused.late[postingKeyOf(postings[place-1])] = moves[i].UTC()
	}
	if err := b.checkDuplicates(ctx, q, postings, other); err != nil {
		return refusal{}, err
	}
	for _, place := range known {
		refused.known = append(refused.known, postingKeyOf(postings[place-1]))
	}
	for i, place := range short {
		why := strains[place-1].Check(balances[i])
		if why == nil {
			return refusal{}, fmt.Errorf("%s at %d was refused without a reason", strains[place-1].Account, balances[i])
		}
		refused.shortages = append(refused.shortages, why)
	}
	return refused, nil
}

// checkDuplicates refuses postings whose ids were posted with another digest, unless only
// their effective time was moved out of a closed month.
func (b *Store) checkDuplicates(ctx context.Context, q Querier, postings []ledger.Posting, mismatched []int32) error {
	if len(mismatched) == 0 {
		return nil
	}
	keys := make([]postingKey, len(mismatched))
	for i, position := range mismatched {
		keys[i] = postingKeyOf(postings[position-1])
	}
	written, err := b.postings(ctx, q, keys)
	if err != nil {
		return err
	}
	for _, position := range mismatched {
		if p := postings[position-1]; !p.IsRepeatOf(written[postingKeyOf(p)]) {
			return conflictError(p)
		}
	}
	return nil
}

// translateError turns the constraints that only the database can hold into the ledger's errors.
func translateError(err error) error {
	var pg *pgconn.PgError
	if !errors.As(err, &pg) {
		return err
	}
	switch {
	case pg.ConstraintName == "ledger_posting_reversed_once":
		return fmt.Errorf("%w: it is reversed already: %w", ledger.ErrNotReversible, err)
	case pg.Code == "22003": // numeric_value_out_of_range
		return fmt.Errorf("%w: %w", ledger.ErrOverflow, err)
	}
	return err
}

// postColumns are the postings turned into columns, as the function takes them. Places
// count from one.
type postColumns struct {
	platform uuidArray // each once, in order
	count    []int32

	id              uuidArray
	postingPlatform []int32
	nth             []int32 // of its platform within the batch
	kind            []string
	transaction     uuidArray
	effective       []time.Time
	memo            []string
	reverses        uuidArray
	digest          [][]byte

	entryPosting []int32
	n            []int16
	debit        []int64
	credit       []int64
	currency     []string
	amount       []int64

	balancePlatform uuidArray
	balanceAccount  []int64
	sum             []int64
	lowest          []int64
	highest         []int64
}

func newPostColumns(postings []ledger.Posting, strains []ledger.BalanceDelta, numbers accountIDs) postColumns {
	var r postColumns
	place := platformPositions(postings)
	r.platform, r.count = make(uuidArray, len(place)), make([]int32, len(place))
	for p, i := range place {
		r.platform[i-1] = pgUUID(p.UUID())
	}
	for i, p := range postings {
		at := place[p.Platform]
		r.count[at-1]++
		r.id = append(r.id, pgUUID(p.ID))
		r.postingPlatform = append(r.postingPlatform, at)
		r.nth = append(r.nth, r.count[at-1])
		r.kind = append(r.kind, string(p.Kind))
		r.transaction = append(r.transaction, pgUUID(p.Transaction.UUID()))
		r.effective = append(r.effective, p.Effective.UTC().Truncate(time.Microsecond))
		r.memo = append(r.memo, p.Memo)
		r.reverses = append(r.reverses, pgUUID(p.Reverses))
		digest := p.Digest()
		r.digest = append(r.digest, digest[:])
		for n, e := range p.Entries {
			r.entryPosting = append(r.entryPosting, int32(i+1))
			r.n = append(r.n, int16(n+1))
			r.debit = append(r.debit, numbers[ledger.Account{Platform: p.Platform, Path: e.Debit, Currency: e.Currency}])
			r.credit = append(r.credit, numbers[ledger.Account{Platform: p.Platform, Path: e.Credit, Currency: e.Currency}])
			r.currency = append(r.currency, string(e.Currency))
			r.amount = append(r.amount, e.Amount)
		}
	}
	for _, s := range strains {
		r.balancePlatform = append(r.balancePlatform, pgUUID(s.Account.Platform.UUID()))
		r.balanceAccount = append(r.balanceAccount, numbers[s.Account])
		r.sum = append(r.sum, s.Sum)
		r.lowest = append(r.lowest, s.Lowest)
		r.highest = append(r.highest, s.Highest)
	}
	return r
}

// platformPositions numbers the platforms of a batch from one, in their order.
func platformPositions(postings []ledger.Posting) map[ident.Platform]int32 {
	places := map[ident.Platform]int32{}
	for _, p := range postings {
		places[p.Platform] = 0
	}
	for i, p := range slices.SortedFunc(maps.Keys(places), ident.Platform.Compare) {
		places[p] = int32(i + 1)
	}
	return places
}
