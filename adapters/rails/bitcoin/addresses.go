package bitcoin

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/google/uuid"

	"causeway/core/money"
	"causeway/ports"
)

const (
	// addressLabel keeps the wallet from taking a payment to itself for change.
	addressLabel = "causeway deposit"
	// referenceOverlap is how far back references are read again, for those that were committed late.
	referenceOverlap = 10 * time.Minute
	referencePiece   = 500
	maxReferences    = 20 * referencePiece
	// shownBefore is how long before its first call the connection may have shown addresses.
	shownBefore = 24 * time.Hour
	importPiece = 100
	// timestampWindow is how far the time of a block may be wrong.
	timestampWindow = 2 * time.Hour
	// importReads is how far back the wallet reads by itself when it imports, less a margin.
	importReads = time.Hour
	// rescanBlocks is what a wallet reads within importTimeout, with a margin.
	rescanBlocks = 100
	checkEvery   = time.Hour
	checkPiece   = 20
	maxChecks    = 1000
)

// knowAddresses keeps the addresses of references that may have been shown since the last time.
func (r *Rail) knowAddresses(ctx context.Context, lease ports.Lease) error {
	w, err := r.Store.Wallet(ctx, r.Connection.Name)
	if err != nil {
		return err
	}
	after, now := uuid.Nil, r.Clock.Now()
	if !w.ReferencesUntil.IsZero() {
		after = firstID(w.ReferencesUntil.Add(-referenceOverlap))
	}
	until := now
	for read := 0; ; read += referencePiece {
		if read >= maxReferences { // the rest is read by the next call, after those that were read
			break
		}
		references, err := r.References.DepositReferences(ctx, r.Connection.Platforms, []money.Currency{money.BTC}, after, referencePiece)
		if err != nil {
			return err
		}
		if err := r.addAddresses(ctx, lease, references, w.CreatedAt.Add(-shownBefore)); err != nil {
			return err
		}
		if len(references) < referencePiece {
			until = now
			break
		}
		last := references[len(references)-1]
		after, until = last.ID, last.CreatedAt.Add(referenceOverlap)
	}
	w.ReferencesUntil = until
	return r.Store.Save(ctx, lease, Changes{At: now, Position: &w.Position})
}

// firstID returns an id before those of a time.
func firstID(at time.Time) (id uuid.UUID) {
	millis := at.UnixMilli()
	for i := range 6 {
		id[i] = byte(millis >> (40 - 8*i))
	}
	return id
}

// addAddresses keeps the addresses of references that are not known.
func (r *Rail) addAddresses(ctx context.Context, lease ports.Lease, references []ports.DepositReference, earliest time.Time) error {
	addresses := make([]Address, 0, len(references))
	texts := make([]string, 0, len(references))
	for _, reference := range references {
		address, err := r.depositAddress(reference.Platform, reference.Reference)
		if err != nil {
			return err
		}
		known := reference.CreatedAt
		if known.Before(earliest) {
			known = earliest
		}
		addresses = append(addresses, Address{Platform: reference.Platform, Address: address, Reference: reference.Reference,
			KnownAt: known})
		texts = append(texts, address)
	}
	found, err := r.Store.Addresses(ctx, r.Connection.Name, texts)
	if err != nil {
		return err
	}
	known := map[string]bool{}
	for _, a := range found {
		known[a.Address] = true
	}
	changes := Changes{At: r.Clock.Now()}
	for _, a := range addresses {
		if !known[a.Address] {
			changes.Addresses = append(changes.Addresses, a)
		}
	}
	if len(changes.Addresses) == 0 {
		return nil
	}
	return r.Store.Save(ctx, lease, changes)
}

// errScanning says that the wallet reads blocks, so that nothing can be imported yet.
var errScanning = errors.New("the wallet is reading blocks; addresses are imported when it has finished")

// importAddresses lets the wallet watch addresses that it does not yet, and remembers from where on it has to look for
// payments to them. It reports whether there are more.
func (r *Rail) importAddresses(ctx context.Context, lease ports.Lease) (more bool, err error) {
	addresses, err := r.Store.AddressesToImport(ctx, r.Connection.Name, importPiece)
	if err != nil || len(addresses) == 0 {
		return false, err
	}
	if info, err := r.client.walletInfo(ctx); err != nil || info.scans() {
		return false, errors.Join(err, errScanningIf(info.scans()))
	}
	requests, err := r.importRequests(ctx, addresses)
	if err != nil {
		return false, err
	}
	if err := r.client.unlock(ctx); err != nil {
		return false, err
	}
	var results []struct {
		Success bool `json:"success"`
		Error   *struct {
			Code int `json:"code"` // its message can have the private key
		} `json:"error"`
	}
	if err := r.client.callFor(ctx, importTimeout, &results, "importdescriptors", requests); err != nil {
		if answered := (*rpcError)(nil); errors.As(err, &answered) {
			return false, fmt.Errorf("importdescriptors: the wallet refuses with code %d", answered.Code)
		}
		return false, err
	}
	now := r.Clock.Now()
	changes := Changes{At: now}
	earliest := now
	for i, result := range results {
		if i >= len(addresses) || !result.Success {
			continue
		}
		a := addresses[i]
		a.ImportedAt, a.CheckedAt = now, now
		changes.Addresses = append(changes.Addresses, a)
		if a.KnownAt.Before(earliest) {
			earliest = a.KnownAt
		}
	}
	if len(changes.Addresses) == 0 {
		return false, errors.New("importdescriptors: the wallet has imported nothing; check that it has private keys and descriptors")
	}
	if changes.Position, err = r.lookFrom(ctx, earliest); err != nil {
		return false, err
	}
	return len(addresses) == importPiece, r.Store.Save(ctx, lease, changes)
}

func errScanningIf(scans bool) error {
	if scans {
		return errScanning
	}
	return nil
}

// importRequest is an element of the argument of importdescriptors.
type importRequest struct {
	Descriptor string `json:"desc"`
	Timestamp  string `json:"timestamp"`
	Label      string `json:"label"`
}

func (r *Rail) importRequests(ctx context.Context, addresses []Address) ([]importRequest, error) {
	key, err := r.depositKey(ctx)
	if err != nil {
		return nil, err
	}
	requests := make([]importRequest, len(addresses))
	for i, a := range addresses {
		child, err := key.Path(depositPath(a.Platform, a.Reference))
		if err != nil {
			return nil, err
		}
		if child.Address() != a.Address {
			return nil, fmt.Errorf("address %s is not one of %s: the setting was changed; use the key that it had", a.Address, settingDepositXpub)
		}
		descriptor, err := child.PrivateDescriptor()
		if err != nil {
			return nil, err
		}
		requests[i] = importRequest{descriptor, "now", addressLabel}
	}
	return requests, nil
}

// lookFrom returns the position from which payments since a time are found. What the wallet does not read by itself
// when it imports, it has to read again.
func (r *Rail) lookFrom(ctx context.Context, at time.Time) (*Position, error) {
	w, err := r.Store.Wallet(ctx, r.Connection.Name)
	if err != nil {
		return nil, err
	}
	info, err := r.client.chain(ctx)
	if err != nil {
		return nil, err
	}
	height, err := r.heightBefore(ctx, info.Blocks, at.Add(-timestampWindow))
	if err != nil {
		return nil, err
	}
	tip, err := r.client.header(ctx, info.Best)
	if err != nil {
		return nil, err
	}
	if at.Before(time.Unix(tip.Time, 0).Add(-importReads)) && (w.RescanHeight < 0 || height < w.RescanHeight) {
		w.RescanHeight = height
	}
	return r.rewind(ctx, w.Position, height)
}

// rewind returns a position that is not after the block before a height.
func (r *Rail) rewind(ctx context.Context, p Position, height int64) (*Position, error) {
	p.Best = ""
	if before := max(height-1, 0); p.ScannedBlock == "" || before < p.ScannedHeight {
		block, err := r.client.blockHash(ctx, before)
		if err != nil {
			return nil, err
		}
		p.ScannedBlock, p.ScannedHeight = block, before
	}
	return &p, nil
}

// heightBefore returns the height of a block that was made before a time, or 0.
func (r *Rail) heightBefore(ctx context.Context, tip int64, at time.Time) (int64, error) {
	height, step := tip, int64(1)
	for height > 0 {
		block, err := r.client.blockHash(ctx, height)
		if err != nil {
			return 0, err
		}
		header, err := r.client.header(ctx, block)
		if err != nil || time.Unix(header.Time, 0).Before(at) {
			return height, err
		}
		height, step = max(height-step, 0), step*2
	}
	return 0, nil
}

// rescan lets the wallet read a piece of the blocks that it has to look at again. It reports whether there are more.
func (r *Rail) rescan(ctx context.Context, lease ports.Lease) (more bool, err error) {
	w, err := r.Store.Wallet(ctx, r.Connection.Name)
	if err != nil || w.RescanHeight < 0 {
		return false, err
	}
	info, err := r.client.chain(ctx)
	if err != nil {
		return false, err
	}
	from, to := w.RescanHeight, min(w.RescanHeight+rescanBlocks-1, info.Blocks)
	if from <= to {
		if err := r.client.callFor(ctx, importTimeout, nil, "rescanblockchain", from, to); err != nil {
			return false, err
		}
	}
	position, err := r.rewind(ctx, w.Position, from)
	if err != nil {
		return false, err
	}
	position.RescanHeight = to + 1
	if to >= info.Blocks {
		position.RescanHeight = -1
	}
	return position.RescanHeight >= 0, r.Store.Save(ctx, lease, Changes{At: r.Clock.Now(), Position: position})
}

// checkAddresses looks whether the wallet still watches addresses. A wallet that was restored from an old backup, or
// made anew, lacks some: they are imported again, with the blocks since they were shown.
func (r *Rail) checkAddresses(ctx context.Context, lease ports.Lease) error {
	for checked, limit := 0, checkPiece; checked < maxChecks; {
		addresses, err := r.Store.AddressesToCheck(ctx, r.Connection.Name, limit)
		if err != nil {
			return err
		}
		missing, err := r.checkPiece(ctx, lease, addresses)
		if err != nil || missing == 0 {
			return err
		}
		checked, limit = checked+len(addresses), 10*checkPiece
	}
	return nil
}

// checkPiece checks the addresses that are due, and returns how many the wallet lacks.
func (r *Rail) checkPiece(ctx context.Context, lease ports.Lease, addresses []Address) (missing int, err error) {
	now := r.Clock.Now()
	var due []Address
	var params [][]any
	for _, a := range addresses {
		if now.Sub(a.CheckedAt) >= checkEvery {
			due, params = append(due, a), append(params, []any{a.Address})
		}
	}
	if len(due) == 0 {
		return 0, nil
	}
	answers, err := r.client.batch(ctx, callTimeout, "getaddressinfo", params)
	if err != nil {
		return 0, err
	}
	for i, answer := range answers {
		var info struct {
			Mine bool `json:"ismine"`
		}
		if err := answer.decode("getaddressinfo", &info); err != nil {
			return 0, err
		}
		due[i].CheckedAt = now
		if !info.Mine {
			due[i].ImportedAt, due[i].CheckedAt = time.Time{}, time.Time{}
			missing++
		}
	}
	return missing, r.Store.Save(ctx, lease, Changes{At: now, Addresses: due})
}
