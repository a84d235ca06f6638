package exports

import (
	"context"
	"strings"

	"causeway/core/ident"
	"causeway/ports"
)

const (
	// holderBatchSize is the number of accounts or entries whose holders are read at once.
	holderBatchSize = 500
	// maxCachedHolders is the maximum number of accounts whose holders are cached.
	maxCachedHolders = 20_000
)

// holders are the customers who hold the accounts of a platform.
type holders struct {
	store    Store
	platform ident.Platform
	names    bool
	// known are by path; an account without a holder is in it too.
	known map[string]ports.AccountHolder
}

func newHolders(store Store, p ident.Platform, names bool) *holders {
	return &holders{store: store, platform: p, names: names, known: map[string]ports.AccountHolder{}}
}

// of returns the holder of an account whose path was loaded; zero if it has none.
func (h *holders) of(path string) ports.AccountHolder { return h.known[path] }

// load reads the holders of accounts. It may drop those of earlier calls.
func (h *holders) load(ctx context.Context, paths []string) error {
	ids := map[ident.InternalAccount]string{}
	find := func() {
		for _, path := range paths {
			_, name, _ := strings.Cut(path, "/")
			id, err := ident.ParseInternalAccount(name)
			if _, known := h.known[path]; err == nil && !known {
				ids[id] = path
			}
		}
	}
	if find(); len(h.known)+len(ids) > maxCachedHolders {
		clear(h.known)
		find()
	}
	if len(ids) == 0 {
		return nil
	}
	list := make([]ident.InternalAccount, 0, len(ids))
	for id := range ids {
		list = append(list, id)
	}
	found, err := h.store.AccountHolders(ctx, h.platform, list, h.names)
	for id, path := range ids {
		h.known[path] = found[id]
	}
	return err
}

// withHolders reads a stream in batches, loads the holders of the accounts at the paths of each, and calls
// each for its items.
func withHolders[T any](ctx context.Context, h *holders, stream func(each func(T) error) error, paths func(T) []string,
	each func(T) error) error {
	batch := make([]T, 0, holderBatchSize)
	handOn := func() error {
		var all []string
		for _, item := range batch {
			all = append(all, paths(item)...)
		}
		if err := h.load(ctx, all); err != nil {
			return err
		}
		for _, item := range batch {
			if err := each(item); err != nil {
				return err
			}
		}
		batch = batch[:0]
		return nil
	}
	err := stream(func(item T) error {
		if batch = append(batch, item); len(batch) < holderBatchSize {
			return nil
		}
		return handOn()
	})
	if err != nil {
		return err
	}
	return handOn()
}

func pathOf(t ports.AccountTurnover) []string { return []string{t.Account.Path} }

func pathsOf(e ports.RecordedEntry) []string { return []string{e.Debit, e.Credit} }
