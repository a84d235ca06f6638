package customers

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"sync"

	"causeway/core/account"
	"causeway/core/customer"
	"causeway/core/fault"
	"causeway/core/ident"
	"causeway/core/platform"
	"causeway/ports"
)

// maxPreparations is how often a batch is prepared for one job.
const maxPreparations = 3

// errOutdatedBatch means that the import or its platform changed after a batch was prepared.
var errOutdatedBatch = errors.New("the import or its platform changed meanwhile")

// importBatch is a chunk of rows with the customers to create, prepared outside of the unit of work.
type importBatch struct {
	of       customer.Import
	owner    platform.Platform
	header   customer.ImportHeader
	chunk    ports.ImportChunk
	refusals map[int]*fault.Error // by the index of the row
	rowOf    map[ident.Customer]int
	sealed   ports.SealedCustomers
}

// fits reports whether the batch is what comes next, for the platform as it is now.
func (b *importBatch) fits(locked customer.Import, owner platform.Platform) bool {
	return b.of.ID == locked.ID && (len(b.chunk.Rows) == 0 || b.chunk.FirstRow == locked.Processed()+1) && reflect.DeepEqual(b.owner, owner)
}

// errors returns the rows that are refused, also because of conflicts.
func (b *importBatch) errors(conflicts map[ident.Customer]*fault.Error) []customer.ImportError {
	refusals := maps.Clone(b.refusals)
	for id, conflict := range conflicts {
		refusals[b.rowOf[id]] = conflict
	}
	var refused []customer.ImportError
	for _, n := range slices.Sorted(maps.Keys(refusals)) {
		row := b.chunk.Rows[n]
		refused = append(refused, customer.NewImportRowError(b.chunk.FirstRow+n, row.Line, b.header.PlatformCustomerID(row.Values), refusals[n]))
	}
	return refused
}

// created returns the customers of the batch without those with a conflict.
func (b *importBatch) created(conflicts map[ident.Customer]*fault.Error) []ident.Customer {
	return slices.DeleteFunc(slices.SortedFunc(maps.Keys(b.rowOf), ident.Customer.Compare), func(id ident.Customer) bool {
		_, conflict := conflicts[id]
		return conflict
	})
}

// nextBatch returns the batch that was prepared ahead, or prepares one.
func (i *Imports) nextBatch(ctx context.Context, p ident.Platform, id ident.CustomerImport) (*importBatch, error) {
	if batch := i.ahead.take(id); batch != nil {
		return batch, nil
	}
	of, err := i.Store.CustomerImport(ctx, p, id)
	if fault.Is(err, fault.BulkUploadJobNotFound) || err == nil && of.Ended() {
		return &importBatch{}, nil
	}
	if err != nil {
		return nil, err
	}
	return i.prepare(ctx, of.Import, of.Processed()+1)
}

// prepareNext prepares the batch after another one, and sends it; nothing if there is none, or it
// cannot be prepared now.
func (i *Imports) prepareNext(ctx context.Context, batch *importBatch) <-chan *importBatch {
	prepared := make(chan *importBatch, 1)
	next := batch.chunk.FirstRow + len(batch.chunk.Rows)
	if len(batch.chunk.Rows) == 0 || next > batch.of.Total {
		close(prepared)
		return prepared
	}
	go func() {
		defer close(prepared)
		defer func() {
			if p := recover(); p != nil {
				i.Log.Errorf("preparing rows of %s panicked: %v; it is repeated", batch.of.ID, p)
			}
		}()
		if following, err := i.prepare(ctx, batch.of, next); err == nil {
			prepared <- following
		}
	}()
	return prepared
}

// prepare returns the batch that begins with a row.
func (i *Imports) prepare(ctx context.Context, of customer.Import, firstRow int) (*importBatch, error) {
	b := &importBatch{of: of, refusals: map[int]*fault.Error{}, rowOf: map[ident.Customer]int{}}
	var err error
	if b.owner, err = i.Store.Platform(ctx, of.Platform); err != nil || of.Total == 0 {
		return b, err
	}
	if b.chunk, err = i.Store.ImportChunk(ctx, of.Platform, of.ID, firstRow); err != nil {
		return nil, err
	}
	var invalid []customer.ImportError
	if b.header, invalid = customer.ParseImportHeader(of.Columns); len(invalid) > 0 {
		return nil, fmt.Errorf("the header of %s: %s", of.ID, invalid[0].Message)
	}
	now := i.Clock.Now()
	var created []customer.Customer
	var opened []account.Internal
	for n, row := range b.chunk.Rows {
		c, err := b.header.Create(row.Values, b.owner, ident.NewCustomer(i.IDs.New, now), now)
		if refused, ok := fault.As(err); ok {
			b.refusals[n] = refused
			continue
		}
		if err != nil {
			return nil, err
		}
		c = i.Identity.NewCustomer(b.owner, c)
		accounts, err := i.opener(b.owner, c, now).Open(b.owner.CurrencyCodes())
		if err != nil {
			return nil, err
		}
		created, opened, b.rowOf[c.ID] = append(created, c), append(opened, accounts...), n
	}
	b.sealed, err = i.Store.SealCustomers(ctx, created, opened)
	return b, err
}

// batchesAhead are batches that were prepared for the next jobs, by their imports. It is safe for
// concurrent use.
type batchesAhead struct {
	mu      sync.Mutex
	batches map[ident.CustomerImport]*importBatch
}

// put keeps a batch. Batches whose job another process took are forgotten when there are too many.
func (a *batchesAhead) put(b *importBatch) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.batches == nil || len(a.batches) >= maxConcurrentImports {
		a.batches = map[ident.CustomerImport]*importBatch{}
	}
	a.batches[b.of.ID] = b
}

// forget drops all batches.
func (a *batchesAhead) forget() {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.batches = nil
}

// take returns the batch of an import, if there is one, and forgets it.
func (a *batchesAhead) take(id ident.CustomerImport) *importBatch {
	a.mu.Lock()
	defer a.mu.Unlock()
	b := a.batches[id]
	delete(a.batches, id)
	return b
}
