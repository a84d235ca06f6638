// Package account is where money comes from and goes to: external accounts at
// banks, mobile operators and on chains, and the internal accounts that hold
// balances here.
//
// One catalogue lists every type of external account; validation, the choice of
// rails and the published description all read it. The package never talks to a
// bank: whether an account exists is for others to find out.
package account
