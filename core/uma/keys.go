package uma

import (
	"slices"
	"time"

	"github.com/google/uuid"

	"causeway/core/ident"
)

const (
	// KeysPublishedFor is how long other providers may keep the published keys. A new key signs only after that time.
	KeysPublishedFor = time.Hour
	// KeysUsedFor is how long a key pair is used before the next one is made.
	KeysUsedFor = 90 * 24 * time.Hour
	// DecryptsFor is how long a replaced key still decrypts.
	DecryptsFor = 24 * time.Hour
	// MaxKeysKept is how long the keys of another provider are kept, whatever it says, and MinKeysKept at least.
	MaxKeysKept = 24 * time.Hour
	MinKeysKept = time.Minute
)

// KeyPair is the signing and the encryption key of a platform, as private scalars of secp256k1.
type KeyPair struct {
	ID uuid.UUID
	// Number is counted from 1.
	Number     int
	Platform   ident.Platform
	Signing    []byte
	Encryption []byte
	// ActiveFrom is when it signs, and is published.
	ActiveFrom time.Time
	CreatedAt  time.Time
}

// KeyRing is the keys of a platform.
type KeyRing []KeyPair

// Active returns the key pair that signs at a time, and until when it may be kept by others: not longer than until the next one
// takes its place. False if there is none.
func (r KeyRing) Active(now time.Time) (KeyPair, time.Time, bool) {
	until := now.Add(KeysPublishedFor)
	var active KeyPair
	found := false
	for _, k := range r {
		switch {
		case k.ActiveFrom.After(now):
			if k.ActiveFrom.Before(until) {
				until = k.ActiveFrom
			}
		case !found || k.ActiveFrom.After(active.ActiveFrom) || k.ActiveFrom.Equal(active.ActiveFrom) && compareID(k, active) > 0:
			active, found = k, true
		}
	}
	return active, until, found
}

func compareID(a, b KeyPair) int { return slices.Compare(a.ID[:], b.ID[:]) }

// Due reports whether the next key pair is to be made.
func (r KeyRing) Due(now time.Time) bool {
	return !slices.ContainsFunc(r, func(k KeyPair) bool { return k.ActiveFrom.Add(KeysUsedFor).After(now) })
}

// NextNumber returns the number of the next key pair.
func (r KeyRing) NextNumber() int {
	next := 1
	for _, k := range r {
		next = max(next, k.Number+1)
	}
	return next
}

// NextActiveFrom returns when a key pair that is made now takes the place of the present one: at once if there is none, and else
// when no other provider may still keep only the present one.
func (r KeyRing) NextActiveFrom(now time.Time) time.Time {
	next := now
	if _, _, found := r.Active(now); found {
		next = now.Add(KeysPublishedFor)
	}
	return next
}

// Decrypting returns the key pairs that may decrypt what is received now, the newest first.
func (r KeyRing) Decrypting(now time.Time) []KeyPair {
	active, _, found := r.Active(now)
	if !found {
		return nil
	}
	var pairs []KeyPair
	for _, k := range r {
		if !k.ActiveFrom.After(now) && (k.ID == active.ID || active.ActiveFrom.Add(DecryptsFor).After(now)) {
			pairs = append(pairs, k)
		}
	}
	slices.SortFunc(pairs, func(a, b KeyPair) int { return b.ActiveFrom.Compare(a.ActiveFrom) })
	return pairs
}

// KeyState is what a key pair is used for.
type KeyState string

// The states of a key pair.
const (
	KeyNext     KeyState = "NEXT"     // it is active from its time on
	KeyActive   KeyState = "ACTIVE"   // it signs, and is published
	KeyReplaced KeyState = "REPLACED" // it only decrypts
	KeyOutdated KeyState = "OUTDATED" // it has no use any more, and is deleted with the next rotation
)

// State returns what a key pair is used for at a time.
func (r KeyRing) State(k KeyPair, now time.Time) KeyState {
	active, _, found := r.Active(now)
	switch {
	case k.ActiveFrom.After(now):
		return KeyNext
	case found && k.ID == active.ID:
		return KeyActive
	case r.Outdated(k, now):
		return KeyOutdated
	default:
		return KeyReplaced
	}
}

// Outdated reports whether a key pair has no use any more.
func (r KeyRing) Outdated(k KeyPair, now time.Time) bool {
	return !k.ActiveFrom.After(now) && !slices.ContainsFunc(r.Decrypting(now), func(used KeyPair) bool { return used.ID == k.ID })
}

// PeerKeys are the public keys of another provider, and until when they are kept.
type PeerKeys struct {
	Domain              string
	Signing, Encryption []byte
	Until               time.Time
}

// KeptUntil returns until when keys that were read now are kept, if their provider says so; zero if it does not.
func KeptUntil(said, now time.Time) time.Time {
	switch latest, earliest := now.Add(MaxKeysKept), now.Add(MinKeysKept); {
	case said.IsZero():
		return now.Add(KeysPublishedFor)
	case said.After(latest):
		return latest
	case said.Before(earliest):
		return earliest
	default:
		return said
	}
}

// CheckCertificate returns a Refusal unless a certificate of the keys is valid now. The keys are kept no longer than it is.
func (k *PeerKeys) CheckCertificate(from, until, now time.Time) error {
	if now.Before(from) || !now.Before(until) {
		return refuse(CertChainExpired, "the certificate of the keys of "+k.Domain+" is valid from "+from.UTC().Format(time.RFC3339)+" to "+
			until.UTC().Format(time.RFC3339))
	}
	if until.Before(k.Until) {
		k.Until = until
	}
	return nil
}
