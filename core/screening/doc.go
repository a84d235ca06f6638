// Package screening compares the names of customers, businesses and their owners with the entries of
// sanctions lists, and says which matches an operator has still to judge.
//
// A score is from 0 to 100, is computed with integers only, and comes with the reasons that led to it.
// Names in different scripts do not match: the lists themselves give names in more than one.
//
// It reads no files and asks nobody: entries come from adapters/sanctions, decisions from operators.
package screening
