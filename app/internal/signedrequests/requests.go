// Package signedrequests lets the owner of an embedded wallet authorise an operation, in two legs: the first
// request is answered with a text to sign, and is carried out when it is sent again with the signature.
//
// Use cases of several capabilities share it. The rules are in core/wallet.
package signedrequests

import (
	"context"
	"crypto/sha256"

	"causeway/core/fault"
	"causeway/core/ident"
	"causeway/core/platform"
	"causeway/core/wallet"
	"causeway/ports"
)

// Config holds what Requests needs.
type Config[T Tx] struct {
	Store  Store
	Proofs ports.WalletProofsByEnvironment
	Clock  ports.Clock
	IDs    ports.IDs
}

// Requests issues requests to sign, and checks signed ones.
type Requests[T Tx] struct{ Config[T] }

// New returns Requests.
func New[T Tx](c Config[T]) *Requests[T] { return &Requests[T]{c} }

// Operation is an operation that a signature authorises.
type Operation struct {
	wallet.Action
	Environment platform.Environment
	// Revoked is the credential that the operation revokes, whose sessions cannot sign it; else zero.
	Revoked ident.AuthMethod
	// Only is the one session that can sign; zero for any.
	Only ident.Session
	// Client is the key that has to sign in place of a session, which is not open yet; nil for none.
	Client *wallet.ClientKey
	// Refused is why the operation cannot be carried out now, with any signature; nil if it can. It is the error
	// of the first leg, so that nobody signs in vain, and of a second one whose request is otherwise right.
	Refused error
	// Basis is a hash of what the first leg is decided on, if the second must compare it; else zero.
	Basis [sha256.Size]byte
}

// Authorization is what a second leg proves.
type Authorization struct {
	Request wallet.SignedRequest
	// Session signed the request; without an id for Operation.Client; zero in the sandbox, if the wallet has none.
	Session wallet.Session
}

// Issue stores and returns the request that a first leg is answered with.
func (r *Requests[T]) Issue(ctx context.Context, request *ports.IdempotentRequest, o Operation,
	c wallet.Call) (*wallet.SignedRequest, error) {
	if o.Refused != nil {
		return nil, o.Refused
	}
	now := r.Clock.Now()
	issued := wallet.NewSignedRequest(ident.NewSignedRequest(r.IDs.New, now), o.Action, c, now)
	issued.Basis = o.Basis
	err := ports.Do(ctx, r.Store, func(ctx context.Context, tx T) error {
		if err := tx.SaveResponse(ctx, request, &issued, nil); err != nil {
			return err
		}
		return tx.CreateSignedRequest(ctx, issued)
	})
	if err != nil {
		return nil, err
	}
	return &issued, nil
}

// Check checks a second leg and uses nothing up. Use has to be called in the unit of work that carries out
// the operation. Both return UNAUTHORIZED with the reason of the check that failed.
func (r *Requests[T]) Check(ctx context.Context, o Operation, c wallet.Call, w wallet.Wallet) (Authorization, error) {
	id, err := c.ParseRequestID()
	if err != nil {
		return Authorization{}, err
	}
	issued, err := r.Store.SignedRequest(ctx, o.Platform, id)
	if err != nil {
		return Authorization{}, err
	}
	return r.check(o, c, w, issued)
}

// Use checks a second leg against a locked wallet, and marks its request as used.
func (r *Requests[T]) Use(ctx context.Context, tx Tx, o Operation, c wallet.Call, w wallet.Wallet) (Authorization, error) {
	id, err := c.ParseRequestID()
	if err != nil {
		return Authorization{}, err
	}
	issued, err := tx.LockSignedRequest(ctx, o.Platform, id)
	if err != nil {
		return Authorization{}, err
	}
	authorized, err := r.check(o, c, w, issued)
	if err != nil {
		return Authorization{}, err
	}
	authorized.Request.UsedAt = r.Clock.Now()
	return authorized, tx.UseSignedRequest(ctx, authorized.Request)
}

func (r *Requests[T]) check(o Operation, c wallet.Call, w wallet.Wallet, issued wallet.SignedRequest) (Authorization, error) {
	if err := issued.Check(o.Action, c, r.Clock.Now()); err != nil {
		return Authorization{}, err
	}
	if o.Refused != nil {
		return Authorization{}, o.Refused
	}
	proofs, connected := r.Proofs[o.Environment]
	if !connected {
		return Authorization{}, fault.New(fault.NotImplemented, "Signatures of wallets of %s platforms cannot be checked by this service.",
			o.Environment)
	}
	suitable, refused := w.Signers(o.Revoked, o.Only)
	if o.Client != nil {
		suitable, refused = []wallet.Session{{PublicKey: o.Client.SessionKey()}}, nil
	}
	session, err := proofs.CheckSignature(issued.Payload, c.Signature, suitable)
	if err != nil && len(refused) > 0 {
		if _, other := proofs.CheckSignature(issued.Payload, c.Signature, refused); other == nil {
			err = wallet.SignedByRevoked()
		}
	}
	if f, ok := fault.As(err); ok && o.Client != nil && f.Details["code"] != wallet.MalformedSignature {
		err = wallet.InvalidSignature("The key in public_key did not make the signature in Service-Wallet-Signature. Sign payloadToSign " +
			"byte for byte as it was received, with its private key.")
	}
	return Authorization{Request: issued, Session: session}, err
}
