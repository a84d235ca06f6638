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

// writeBatch posts the whole batch or, if it is refused, nothing. It takes one round trip
// if the accounts are cached.
func (s *Store) writeBatch(ctx context.Context, q Querier, now time.Time, postings []ledger.Posting) (refusal, error) {
	columns, deltas, err := s.columnsFor(ctx, q, postings)
	if err != nil {
		return refusal{}, err
	}
	refused, err := s.postBatch(ctx, q, now, columns, deltas, postings)
	if err != nil {
		return refusal{}, fmt.Errorf("write postings: %w", s.PostingError(err))
	}
	return refused, nil
}

// columnsFor returns postings as columns, with the changes of the balances that are checked.
func (s *Store) columnsFor(ctx context.Context, q Querier, postings []ledger.Posting) (postColumns, []ledger.BalanceDelta, error) {
	deltas, err := ledger.BalanceDeltas(postings)
	if err != nil {
		return postColumns{}, nil, err
	}
	ids, err := s.accountsFor(ctx, q, postings, deltas)
	if err != nil {
		return postColumns{}, nil, err
	}
	return newPostColumns(postings, deltas, ids), deltas, nil
}

// accountsFor returns the ids of all accounts of a batch and creates those that are new:
// accounts that may not be overdrawn first, the others after the balances are locked.
func (s *Store) accountsFor(ctx context.Context, q Querier, postings []ledger.Posting, deltas []ledger.BalanceDelta) (accountIDs, error) {
	var all, withBalance []ledger.Account
	for _, p := range postings {
		for _, e := range p.Entries {
			all = append(all, ledger.Account{Platform: p.Platform, Path: e.Debit, Currency: e.Currency},
				ledger.Account{Platform: p.Platform, Path: e.Credit, Currency: e.Currency})
		}
	}
	found, missing := s.accounts.lookup(all)
	if len(missing) == 0 {
		return found, nil
	}
	for _, d := range deltas { // in account order
		withBalance = append(withBalance, d.Account)
	}
	if _, err := s.Balances(ctx, q, withBalance, Lock); err != nil {
		return nil, err
	}
	return s.ensureAccountIDs(ctx, q, all)
}

// ledgerPostCall compares the accounts and calls the function that locks, checks and writes
// (migrations/00006_ledger.sql).
var ledgerPostCall = accountsProved("$24", "$25", "$26", "$27") + `
CROSS JOIN LATERAL ledger_post(CASE WHEN proved.ok THEN $1::timestamptz END,
    $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19, $20, $21, $22, $23) AS posted`

// callLedgerPost returns why postings are refused; postOrFail fails the transaction if they are.
var (
	callLedgerPost = `SELECT duplicates, mismatched, short_accounts, short_balances, late_postings, earliest_allowed FROM ` + ledgerPostCall
	postOrFail     = `SELECT CASE WHEN duplicates IS NULL AND late_postings IS NULL AND coalesce(cardinality(short_accounts), 0) = 0
THEN true ELSE ledger_refuse() END FROM ` + ledgerPostCall
)

func (s *Store) postBatch(ctx context.Context, q Querier, now time.Time, r postColumns, deltas []ledger.BalanceDelta,
	postings []ledger.Posting) (refused refusal, err error) {
	if err := prepare(ctx, q, callLedgerPost); err != nil {
		return refusal{}, err
	}
	var duplicates, mismatched, shortAccounts, late []int32
	var balances []int64
	var allowed []time.Time
	row := q.QueryRow(ctx, callLedgerPost, r.arguments(now)...)
	if err := row.Scan(&duplicates, &mismatched, &shortAccounts, &balances, &late, &allowed); err != nil {
		return refusal{}, err
	}
	for i, position := range late {
		if refused.late == nil {
			refused.late = make(map[postingKey]time.Time, len(late))
		}
		refused.late[postingKeyOf(postings[position-1])] = allowed[i].UTC()
	}
	if err := s.checkDuplicates(ctx, q, postings, mismatched); err != nil {
		return refusal{}, err
	}
	for _, position := range duplicates {
		refused.known = append(refused.known, postingKeyOf(postings[position-1]))
	}
	for i, position := range shortAccounts {
		shortage := deltas[position-1].Check(balances[i])
		if shortage == nil {
			return refusal{}, fmt.Errorf("%s at %d was refused without a shortfall", deltas[position-1].Account, balances[i])
		}
		refused.shortages = append(refused.shortages, shortage)
	}
	return refused, nil
}

// checkDuplicates refuses postings whose ids were posted with another digest, unless only
// their effective time was moved out of a closed month.
func (s *Store) checkDuplicates(ctx context.Context, q Querier, postings []ledger.Posting, mismatched []int32) error {
	if len(mismatched) == 0 {
		return nil
	}
	keys := make([]postingKey, len(mismatched))
	for i, position := range mismatched {
		keys[i] = postingKeyOf(postings[position-1])
	}
	written, err := s.postings(ctx, q, keys)
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

// translateError turns violations of constraints that only the database can check into the
// errors of package ledger. Other errors are returned as they are.
func translateError(err error) error {
	var pg *pgconn.PgError
	if !errors.As(err, &pg) {
		return err
	}
	switch {
	case pg.ConstraintName == "ledger_posting_reversed_once":
		return fmt.Errorf("%w: it is already reversed: %w", ledger.ErrNotReversible, err)
	case pg.Code == "22003": // numeric_value_out_of_range
		return fmt.Errorf("%w: %w", ledger.ErrOverflow, err)
	}
	return err
}

// postColumns are the postings as columns, the arguments of ledger_post. Positions start
// at one.
type postColumns struct {
	platform uuidArray // distinct and sorted
	count    []int32

	id              uuidArray
	postingPlatform []int32
	nth             []int32 // position among the postings of its platform in the batch
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

	proof []any // of the ids of the accounts
}

// arguments returns the parameters of ledgerPostCall.
func (r postColumns) arguments(now time.Time) []any {
	return append([]any{now.UTC().Truncate(time.Microsecond),
		r.platform, r.count,
		r.id, r.postingPlatform, r.nth, r.kind, r.transaction, r.effective, r.memo, r.reverses, r.digest,
		r.entryPosting, r.n, r.debit, r.credit, r.currency, r.amount,
		r.balancePlatform, r.balanceAccount, r.sum, r.lowest, r.highest}, r.proof...)
}

func newPostColumns(postings []ledger.Posting, deltas []ledger.BalanceDelta, ids accountIDs) postColumns {
	r := postColumns{proof: accountProof(slices.Collect(maps.Keys(ids)), ids)}
	positions := platformPositions(postings)
	r.platform, r.count = make(uuidArray, len(positions)), make([]int32, len(positions))
	for p, i := range positions {
		r.platform[i-1] = pgUUID(p.UUID())
	}
	for i, p := range postings {
		platform := positions[p.Platform]
		r.count[platform-1]++
		r.id = append(r.id, pgUUID(p.ID))
		r.postingPlatform = append(r.postingPlatform, platform)
		r.nth = append(r.nth, r.count[platform-1])
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
			r.debit = append(r.debit, ids[ledger.Account{Platform: p.Platform, Path: e.Debit, Currency: e.Currency}])
			r.credit = append(r.credit, ids[ledger.Account{Platform: p.Platform, Path: e.Credit, Currency: e.Currency}])
			r.currency = append(r.currency, string(e.Currency))
			r.amount = append(r.amount, e.Amount)
		}
	}
	for _, d := range deltas {
		r.balancePlatform = append(r.balancePlatform, pgUUID(d.Account.Platform.UUID()))
		r.balanceAccount = append(r.balanceAccount, ids[d.Account])
		r.sum = append(r.sum, d.Sum)
		r.lowest = append(r.lowest, d.Lowest)
		r.highest = append(r.highest, d.Highest)
	}
	return r
}

// platformPositions numbers the platforms of a batch from one, in sorted order.
func platformPositions(postings []ledger.Posting) map[ident.Platform]int32 {
	positions := map[ident.Platform]int32{}
	for _, p := range postings {
		positions[p.Platform] = 0
	}
	for i, p := range slices.SortedFunc(maps.Keys(positions), ident.Platform.Compare) {
		positions[p] = int32(i + 1)
	}
	return positions
}
