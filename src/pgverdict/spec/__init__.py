"""What the user asks for, as frozen, checked values. Pure: nothing here touches the world."""
