package evm

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/big"
	"strings"

	"causeway/adapters/rails/evm/eth"
	"causeway/core/ethereum"
	"causeway/core/wallet"
)

// walletToken is the token of embedded wallets, and the way in which they pay in it.
type walletToken struct {
	ethereum.Domain
	method  wallet.Method
	refused ethereum.Domain // whose permits it does not take
}

// String describes the way.
func (t walletToken) String() string {
	switch t.method {
	case wallet.ByPermit:
		return fmt.Sprintf("permits (EIP-2612) for %q, version %q", t.Name, t.Version)
	case wallet.ByTransaction:
		return fmt.Sprintf("transactions of the wallets of %q, for which they get gas", t.Name)
	default:
		return fmt.Sprintf("authorisations (EIP-3009) for %q, version %q", t.Name, t.Version)
	}
}

// usualVersions are those of the domains of contracts that do not tell theirs.
var usualVersions = []string{"1", "2"}

// checkWalletToken finds out how wallets can pay in a token, as every node says that answers. If they disagree, it stays as it was.
func (r *Rail) checkWalletToken(ctx context.Context, contract eth.Address) error {
	former := r.walletToken.Load()
	var found *walletToken
	var failed error
	for _, n := range r.nodes.list {
		said, err := r.walletTokenOf(ctx, n, contract)
		if err == nil && found != nil && *found != said {
			err = fmt.Errorf("%s: the nodes disagree about how embedded wallets can pay: with %s, or with %s", n.name, found, said)
			if former == nil {
				return err
			}
			r.log.WithError(err).Warnf("wallets go on to pay with %s", former)
			return nil
		}
		if failed = errors.Join(failed, err); err == nil {
			found = &said
		}
	}
	switch {
	case found == nil:
		return failed
	case former != nil && former.method == wallet.ByPermit && found.method == wallet.ByTransaction && found.refused == former.Domain:
		r.log.Warn("the token refuses permits at present; it may be paused, and wallets go on to pay with permits")
		return nil
	}
	r.walletToken.Store(found)
	return nil
}

// walletTokenOf asks one node how wallets can pay: with authorisations (EIP-3009) or permits (EIP-2612) that are signed for the domain of
// the contract (EIP-712); or else with transactions of their own.
func (r *Rail) walletTokenOf(ctx context.Context, n *node, contract eth.Address) (token walletToken, err error) {
	var name, version, separator, used, nonce hexBytes
	requests := []*request{callContract(contract, eth.NameCall(), "latest", &name),
		callContract(contract, eth.VersionCall(), "latest", &version),
		callContract(contract, eth.SeparatorCall(), "latest", &separator),
		callContract(contract, eth.StateCall(eth.Address{}, eth.Hash{}), "latest", &used),
		callContract(contract, eth.NoncesCall(r.wallet), "latest", &nonce)}
	if err := r.nodes.sendTo(ctx, n, requests); err != nil {
		return token, err
	}
	for _, one := range requests {
		if one.Err != nil && !isRefusedCall(one.Err) {
			return token, fmt.Errorf("the contract %s of USDB: %w", eth.FormatAddress(contract), one.Err)
		}
	}
	token = walletToken{Domain: ethereum.Domain{ChainID: r.chain.id, Contract: contract}, method: wallet.ByTransaction}
	token.Name, _ = eth.Text(name)
	versions := usualVersions
	if said, err := eth.Text(version); err == nil {
		versions = []string{said}
	}
	for _, v := range versions {
		domain := token.Domain
		if domain.Version = v; len(separator) != eth.HashLength || domain.Separator() != eth.Hash(separator) {
			continue
		}
		if _, err := eth.Uint(used); err == nil {
			return walletToken{Domain: domain, method: wallet.ByAuthorization}, nil
		}
		if count, err := eth.Uint(nonce); err == nil && count.IsUint64() {
			token.refused = domain
			takes, err := r.takesPermits(ctx, n, domain, count.Uint64())
			if err != nil || takes {
				return walletToken{Domain: domain, method: wallet.ByPermit}, err
			}
		}
	}
	return token, nil
}

// takesPermits asks whether a contract would take a permit of the wallet of the connection, for itself and for nothing: some contracts have
// permits of another kind.
func (r *Rail) takesPermits(ctx context.Context, n *node, domain ethereum.Domain, nonce uint64) (bool, error) {
	p := ethereum.Permit{Owner: r.wallet, Spender: r.wallet, Value: new(big.Int), Nonce: nonce, Deadline: math.MaxInt64}
	signature, err := r.keys.SignDigest(ctx, r.keyPath(eth.HotPath()), p.Digest(domain))
	if err != nil {
		return false, err
	}
	var reply hexBytes
	one := callContract(domain.Contract, eth.PermitCall(p, firstRecovery+signature.Recovery, signature.R, signature.S), "latest", &reply)
	if err := r.nodes.sendTo(ctx, n, []*request{one}); err != nil {
		return false, err
	}
	if one.Err != nil && !isRefusedCall(one.Err) {
		return false, one.Err
	}
	return one.Err == nil, nil
}

// isRefusedCall reports whether a contract has refused a call, or has no such function: old ones run into an invalid instruction.
func isRefusedCall(err error) bool {
	text := strings.ToLower(err.Error())
	return isRevert(err) || strings.Contains(text, "invalid opcode") || strings.Contains(text, "invalid jump")
}
