package ledgerdb

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/google/uuid"

	"causeway/core/ident"
	"causeway/ledger"
)

// Post writes postings, of any platforms, in the order given, in the transaction of q.
// Each gets the next number of its platform and a recorded time: now, or a microsecond
// after the one before when the clock has not moved on. What is written already, with
// the same content, is passed over.
//
// Errors, with nothing written: ledger.ErrInvalid, a *ledger.ShortError,
// ledger.ErrConflict, ledger.ErrReversal, ledger.ErrOverflow. Any other error is the
// database's and leaves the transaction to be rolled back.
//
// A posting that would be effective in a month that is closed, or held and nobody has
// authorised it, is written as ledger.Posting.MovedTo says, to the first moment of the
// first month that takes it.
func (b *Store) Post(ctx context.Context, q Querier, now time.Time, postings []ledger.Posting) error {
	fresh, err := deduplicate(postings)
	if err != nil {
		return err
	}
	if err := b.checkReversals(ctx, q, fresh); err != nil {
		return err
	}
	for len(fresh) > 0 {
		refused, err := b.writeBatch(ctx, q, now, fresh)
		switch {
		case err != nil:
			return err
		case len(refused.known) > 0 || len(refused.late) > 0:
			// Seldom: a repeat, of postings that say the same, or a month that takes no
			// more. The rest is written by another round, under the locks of this one.
			fresh = withoutKnown(redated(fresh, refused.late), refused.known)
		case len(refused.shortages) > 0:
			return refused.shortageError()
		default:
			return nil
		}
	}
	return nil
}

// deduplicate validates the postings and drops repeats within the batch.
func deduplicate(postings []ledger.Posting) ([]ledger.Posting, error) {
	first := make(map[postingKey]int, len(postings))
	kept := make([]ledger.Posting, 0, len(postings))
	for _, p := range postings {
		if err := p.Validate(); err != nil {
			return nil, err
		}
		i, repeated := first[postingKeyOf(p)]
		switch {
		case !repeated:
			first[postingKeyOf(p)] = len(kept)
			kept = append(kept, p)
		case !p.Equal(kept[i]):
			return nil, conflictError(p)
		}
	}
	return kept, nil
}

// withoutKnown drops the postings with these keys.
func withoutKnown(postings []ledger.Posting, known []postingKey) []ledger.Posting {
	return slices.DeleteFunc(postings, func(p ledger.Posting) bool { return slices.Contains(known, postingKeyOf(p)) })
}

// redated puts the postings in late where their months still take them.
func redated(postings []ledger.Posting, late map[postingKey]time.Time) []ledger.Posting {
	for i, p := range postings {
		if to, ok := late[postingKeyOf(p)]; ok {
			postings[i] = p.Redate(to)
		}
	}
	return postings
}

// checkReversals sees to it that each reversal mirrors a posting that exists, in the
// books or earlier in the batch. That it is the only one is the schema's to hold.
func (b *Store) checkReversals(ctx context.Context, q Querier, batch []ledger.Posting) error {
	originals := map[postingKey]ledger.Posting{}
	var wanted []postingKey
	for _, p := range batch {
		originals[postingKeyOf(p)] = p
		if p.Reverses != uuid.Nil {
			wanted = append(wanted, postingKey{p.Platform, p.Reverses})
		}
	}
	if len(wanted) == 0 {
		return nil
	}
	stored, err := b.postings(ctx, q, wanted)
	if err != nil {
		return err
	}
	seen := map[postingKey]bool{}
	for _, p := range batch {
		seen[postingKeyOf(p)] = true
		if p.Reverses == uuid.Nil {
			continue
		}
		key := postingKey{p.Platform, p.Reverses}
		original, ok := stored[key]
		if !ok && seen[key] {
			original, ok = originals[key], true
		}
		if !ok || !p.IsReversalOf(original) {
			return fmt.Errorf("%w: %s by %s: it is not there, or not mirrored", ledger.ErrNotReversible, p.Reverses, p.ID)
		}
	}
	return nil
}

// postingKey names a posting: an id is unique within its platform.
type postingKey struct {
	platform ident.Platform
	id       uuid.UUID
}

func postingKeyOf(p ledger.Posting) postingKey { return postingKey{p.Platform, p.ID} }

func conflictError(p ledger.Posting) error {
	return fmt.Errorf("%w: %s (%s)", ledger.ErrConflict, p.ID, p.Kind)
}

// refusal is why a batch was not written: postings that are there already, postings
// whose month does not take them, with where they may be instead, and accounts that
// would go below zero or overflow.
type refusal struct {
	known     []postingKey
	late      map[postingKey]time.Time
	shortages []error
}

// shortageError joins what each account has to say into one error.
func (r refusal) shortageError() error {
	var all ledger.InsufficientBalanceError
	for _, err := range r.shortages {
		var short *ledger.InsufficientBalanceError
		if !errors.As(err, &short) {
			return err
		}
		all.Shortfalls = append(all.Shortfalls, short.Shortfalls...)
	}
	return &all
}
