// SPDX-License-Identifier: Apache-2.0
pragma solidity ^0.8.20;

import {TestPermitToken} from "TestPermitToken.sol";

/// A token whose permits are of another kind than those of EIP-2612, as Dai's, although it has the other functions.
contract TestOddPermitToken is TestPermitToken {
    function name() public pure override returns (string memory) {
        return "Odd Dollar";
    }

    function permit(address, address, uint256, uint256, uint8, bytes32, bytes32) external pure override {
        revert("another kind of permit");
    }
}
