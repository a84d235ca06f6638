// Package treasury holds the rules by which a company moves money between its accounts at partners: sweeps of
// fees out of accounts with customers' money, transfers, and exchanges with a liquidity provider.
//
// Money of customers leaves their accounts only as far as more is held there than is owed to them, and no
// asset goes below zero unless someone says why. The package is pure.
package treasury
