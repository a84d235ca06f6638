// Package account defines external accounts, at banks, at mobile money operators and on
// chains, and internal accounts, which hold a balance in the ledger.
//
// One catalogue lists every type of external account; validation, the choice of rails and
// the published API description read it. The package never contacts a bank: ports find out
// whether an account exists.
package account
